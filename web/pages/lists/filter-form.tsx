import { among, Filters, word } from '../../components/form/filters.tsx';
import type { LeafSpec } from '../../components/form/spec.ts';
import type { ListKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { FILTERS, type Filter, STATES } from './filters.ts';
import './lists.css';

interface Props {
  kind: ListKind;
  filter: Filter;
  base: string;
  /** Kinds to choose from; none: it is given. */
  kinds?: ListKind[];
  fixedQueue?: boolean;
}

/** What a list shows. Its values go into the address. */
export function FilterForm({ kind, filter, base, kinds = [], fixedQueue = false }: Props) {
  const t = texts.value.lists;
  const { states } = texts.value.items;
  const moment = (name: 'after' | 'before'): LeafSpec => ({ kind: 'moment', name, said: [t[name], ''], empty: 'omit' });
  const all: LeafSpec[] = [
    word('queue', t.queueOf[kind]),
    among('state', t.state, [['', t.anyState], ...STATES[kind].map((one) => [one, states[one] ?? one] as const)]),
    word('person', t.person),
    moment('after'),
    moment('before'),
  ];
  const known = all.filter(
    ({ name }) => FILTERS[kind].includes(name as keyof Filter) && !(fixedQueue && name === 'queue'),
  );
  const choice = among(
    'kind',
    t.kind,
    kinds.map((one) => [one, t.kinds[one]] as const),
  );
  return (
    <Filters
      // another kind or filter is another form, with its own values
      key={`${kind} ${JSON.stringify(filter)}`}
      path={base}
      fields={kinds.length > 1 ? [choice, ...known] : known}
      given={{ ...filter, kind }}
      {...(kinds.length === 1 && { keep: ['kind'] })}
      atOnce={{ kind: [] }}
      inside
    />
  );
}
