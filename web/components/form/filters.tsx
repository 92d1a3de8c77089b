import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { texts } from '../../texts/texts.ts';
import { draftOf, emptyDraft, read } from './draft.ts';
import { Fields } from './fields.tsx';
import type { LeafSpec } from './spec.ts';

interface Props {
  path: string;
  fields: readonly LeafSpec[];
  /** What else is in the query and stays. */
  keep?: readonly string[];
}

/** Filters of a list. They are the address' query, so that a list can be kept and sent to someone. */
export function Filters({ path, fields, keep = [] }: Props) {
  const { query, route } = useLocation();
  const [draft, setDraft] = useState(() =>
    Object.keys(query).length > 0 ? draftOf(fields, ofQuery(fields, query)) : emptyDraft(fields),
  );
  const [errors, setErrors] = useState<{ path: string; message: string }[]>([]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { value, errors: wrong } = read(fields, { ...draft, base: {} }, texts.value.form.wrong);
    setErrors(wrong);
    const given = Object.entries(value).filter(([, one]) => one !== undefined && one !== false && one !== null);
    const kept = keep.flatMap((name) => (query[name] ? [[name, query[name]]] : []));
    const all = [...kept, ...given.map(([name, one]) => [name, String(one)])];
    if (wrong.length === 0) route(`${path}?${new URLSearchParams(all)}`);
  };
  return (
    <form class="panel form-body" noValidate onSubmit={submit}>
      <Fields fields={fields} draft={draft} onChange={setDraft} errors={errors} />
      <div class="actions">
        <button type="submit">{texts.value.form.show}</button>
      </div>
    </form>
  );
}

const ofQuery = (fields: readonly LeafSpec[], query: Record<string, string>) =>
  Object.fromEntries(fields.map((field) => [field.name, valueIn(field, query[field.name])]));

function valueIn(field: LeafSpec, given: string | undefined): unknown {
  if (field.kind === 'flag') return given === 'true';
  // of a choice something is always chosen
  return given ?? (field.kind === 'choice' ? field.initial : undefined);
}
