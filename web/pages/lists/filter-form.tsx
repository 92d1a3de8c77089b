import { among, Filters, word } from '../../components/form/filters.tsx';
import { type LeafSpec, picked } from '../../components/form/spec.ts';
import { moment } from '../../components/format.ts';
import { type ListKind, withQuery } from '../../links.ts';
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
  const fields = fieldsOf(kind);
  const known = fields.filter(({ name }) => !(fixedQueue && name === 'queue'));
  const choice = among('kind', t.kind, picked(kinds, texts.value.deliveries.kinds));
  return (
    <Filters
      // another kind or filter is another form, with its own values
      key={`${kind} ${JSON.stringify(filter)}`}
      path={base}
      fields={[...(kinds.length > 1 ? [choice] : []), ...known.slice(0, FIRST)]}
      more={known.slice(FIRST)}
      given={{ ...filter, kind }}
      {...(kinds.length === 1 && { keep: ['kind'] })}
      atOnce={{ kind: [] }}
      inside
    />
  );
}

/** What of the filter is set: each leads to the list without it. */
export function Chips({ kind, filter, base, fixedQueue = false }: Omit<Props, 'kinds'>) {
  const set = fieldsOf(kind).filter(({ name }) => filter[name] && !(fixedQueue && name === 'queue'));
  if (set.length === 0) return null;
  const without = (name: string) =>
    withQuery(base, { ...(fixedQueue ? {} : { kind }), ...filter, cursor: '', [name]: '' });
  return (
    <ul class="list-chips row bar plain" aria-label={texts.value.lists.filtered}>
      {set.map((field) => (
        <li key={field.name}>
          <a href={without(field.name)} title={texts.value.lists.without(field.said[0])}>
            {field.said[0]}: <bdi>{shown(field, filter[field.name] ?? '')}</bdi> <span aria-hidden="true">×</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

const shown = (field: LeafSpec, value: string) =>
  field.kind === 'moment'
    ? moment(value)
    : (field.kind === 'choice' && field.options.find(([one]) => one === value)?.[1]) || value;

/** Fields that are always in sight; the others are opened. */
const FIRST = 4;

function fieldsOf(kind: ListKind): LeafSpec[] {
  const t = texts.value.lists;
  const { states, fields } = texts.value.items;
  const time = (name: 'createdAfter' | 'createdBefore' | 'decidedAfter' | 'decidedBefore'): LeafSpec => ({
    ...{ kind: 'moment', name, said: [t[name], ''], empty: 'omit' },
  });
  const all: Record<string, LeafSpec> = {
    queue: word('queue', texts.value.numbers.queueOf[kind]),
    state: among('state', fields.state, [['', t.anyState], ...picked(STATES[kind], states)]),
    overturned: among('overturned', t.overturned, [['', t.any], ...Object.entries(t.isOverturned)]),
    automation: among('automation', t.automation, [['', t.any], ...Object.entries(t.automations)]),
    order: among('order', t.order, Object.entries(t.orders)),
  };
  const of = (name: string): LeafSpec => {
    if (all[name]) return all[name];
    if (name.startsWith('created') || name === 'decidedAfter' || name === 'decidedBefore')
      return time(name as 'createdAfter');
    return word(name, t[name as 'verdict']);
  };
  return FILTERS[kind].map(of);
}
