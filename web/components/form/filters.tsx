import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { withQuery } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { Button, submitting } from '../page.tsx';
import { type Draft, draftOf, emptyDraft, read } from './draft.ts';
import { Fields } from './fields.tsx';
import { choice, type LeafSpec, type Option } from './spec.ts';

interface Props {
  path: string;
  fields: readonly LeafSpec[];
  /** Those that are seldom needed: they are opened first. */
  more?: readonly LeafSpec[];
  /** What else is in the query and stays. */
  keep?: readonly string[];
  /** What stands in the inputs at first; left out: what the address says. */
  given?: Record<string, string | undefined>;
  /** Fields whose values say nothing when they are these. */
  defaults?: Record<string, string>;
  /** Fields whose change shows another list at once; the others are then left as they are by default, or kept. */
  atOnce?: Record<string, readonly string[]>;
  /** It stands in a panel. */
  inside?: boolean;
}

/** Filters of a list. They are the address' query, so that a list can be kept and sent to someone. */
export function Filters({
  path,
  fields: first,
  more = [],
  keep = [],
  given,
  defaults = {},
  atOnce = {},
  inside,
}: Props) {
  const fields = [...first, ...more];
  const { query, route } = useLocation();
  const start = given ?? query;
  const [draft, setDraft] = useState(() =>
    Object.keys(start).length > 0 ? draftOf(fields, ofQuery(fields, start)) : emptyDraft(fields),
  );
  const [errors, setErrors] = useState<{ path: string; message: string }[]>([]);
  const show = (from: Draft, among = fields) => {
    const { value, errors: wrong } = read(among, { ...from, base: {} }, texts.value.form.wrong);
    setErrors(wrong);
    const said = Object.entries(value).filter(([name, one]) => one && one !== defaults[name]);
    const kept = keep.flatMap((name) => (query[name] ? [[name, query[name]]] : []));
    const all = [...kept, ...said.map(([name, one]) => [name, String(one)])];
    if (wrong.length === 0) route(withQuery(path, Object.fromEntries(all)));
  };
  const change = (to: Draft) => {
    setDraft(to);
    const changed = Object.keys(atOnce).find((name) => to.values[name] !== draft.values[name]);
    const others = changed === undefined ? undefined : atOnce[changed];
    if (others)
      show(
        to,
        fields.filter(({ name }) => name === changed || others.includes(name)),
      );
  };
  return (
    <form class={`filters form-body ${inside ? '' : 'panel'}`} noValidate onSubmit={submitting(() => show(draft))}>
      <Fields fields={first} draft={draft} onChange={change} errors={errors} />
      {more.length > 0 && (
        <details>
          <summary>{texts.value.form.moreFilters}</summary>
          <Fields fields={more} draft={draft} onChange={change} errors={errors} />
        </details>
      )}
      <div class="actions">
        <Button does={texts.value.form.show} />
      </div>
    </form>
  );
}

/** A choice among words, whose first is that nothing is chosen where it is the empty one. */
export const among = (name: string, label: string, options: readonly Option[]): LeafSpec => ({
  ...choice(name, [label, ''], options, options[0]?.[0] ?? ''),
  proposed: true,
});

/** A text that may be left out. */
export const word = (name: string, label: string, more: { hint?: string; suggestions?: string[] } = {}): LeafSpec => ({
  ...{ kind: 'text', name, said: [label, more.hint ?? ''], empty: 'omit', suggestions: more.suggestions },
});

const ofQuery = (fields: readonly LeafSpec[], query: Record<string, string | undefined>) =>
  Object.fromEntries(fields.map((field) => [field.name, valueIn(field, query[field.name])]));

function valueIn(field: LeafSpec, given: string | undefined): unknown {
  if (field.kind === 'flag') return given === 'true';
  // of a choice something is always chosen
  return given ?? (field.kind === 'choice' ? field.initial : undefined);
}
