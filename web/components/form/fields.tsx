import { texts } from '../../texts/texts.ts';
import { Select } from '../field.tsx';
import { type Draft, type DraftValue, draftOf, emptyDraft, type FieldError, isDraft } from './draft.ts';
import './form.css';
import { LeafInput } from './inputs.tsx';
import type { FieldSpec, GroupSpec } from './spec.ts';

interface FieldsProps {
  fields: readonly FieldSpec[];
  draft: Draft;
  onChange: (draft: Draft) => void;
  errors: readonly FieldError[];
  /** Of this object in the whole, with a point at its end. */
  at?: string;
}

/** The inputs of an object, with what is wrong at each. */
export function Fields({ fields, draft, onChange, errors, at = '' }: FieldsProps) {
  const set = (name: string) => (value: DraftValue) =>
    onChange({ ...draft, values: { ...draft.values, [name]: value } });
  return (
    <div class="form-grid">
      {fields.map((field) => {
        if (field.kind === 'fixed') return null;
        const { name } = field;
        const shared = { value: draft.values[name] ?? '', onChange: set(name), errors, path: `${at}${name}` };
        const key = `${field.kind} ${name}`;
        return 'fields' in field || 'variants' in field ? (
          <Group key={key} field={field} {...shared} />
        ) : (
          <LeafInput key={key} field={field} {...shared} />
        );
      })}
    </div>
  );
}

interface GroupProps<F extends GroupSpec = GroupSpec> {
  field: F;
  value: DraftValue;
  onChange: (value: DraftValue) => void;
  errors: readonly FieldError[];
  path: string;
}

function Group({ field, ...rest }: GroupProps) {
  const [label, does] = field.said;
  const error = rest.errors.find(({ path }) => path === rest.path);
  return (
    <fieldset class="form-group">
      <legend>{label}</legend>
      {does && <p class="hint">{does}</p>}
      {error && <p class="error">{error.message}</p>}
      {field.kind === 'rows' ? (
        <Rows field={field} {...rest} />
      ) : field.kind === 'variants' ? (
        <Variants field={field} {...rest} />
      ) : (
        <Single field={field} {...rest} />
      )}
    </fieldset>
  );
}

function Single({ field, value, onChange, errors, path }: GroupProps<Extract<GroupSpec, { fields: unknown }>>) {
  const t = texts.value.form;
  const draft = isDraft(value) ? value : field.kind === 'object' ? emptyDraft(field.fields) : null;
  return (
    <>
      {field.kind === 'optional' && (
        <label class="form-flag">
          <input
            type="checkbox"
            checked={draft !== null}
            aria-label={`${t.on}: ${field.said[0]}`}
            onChange={(event) => onChange(event.currentTarget.checked ? emptyDraft(field.fields) : null)}
          />
          {t.on}
        </label>
      )}
      {draft && <Fields fields={field.fields} draft={draft} onChange={onChange} errors={errors} at={`${path}.`} />}
    </>
  );
}

function Rows({ field, value, onChange, errors, path }: GroupProps<Extract<GroupSpec, { kind: 'rows' }>>) {
  const t = texts.value.form;
  const rows = Array.isArray(value) ? (value as readonly Draft[]) : [];
  const without = (n: number) => rows.filter((_, other) => other !== n);
  const replaced = (n: number, row: Draft) => rows.map((was, other) => (other === n ? row : was));
  return (
    <>
      {rows.map((row, n) => (
        <fieldset class="form-row" key={n}>
          <legend>{field.row(n + 1)}</legend>
          <Fields
            fields={field.fields}
            draft={row}
            onChange={(changed) => onChange(replaced(n, changed))}
            errors={errors}
            at={`${path}.${n}.`}
          />
          <button type="button" onClick={() => onChange(without(n))} aria-label={`${t.remove}: ${field.row(n + 1)}`}>
            {t.remove}
          </button>
        </fieldset>
      ))}
      <button type="button" class="form-add" onClick={() => onChange([...rows, emptyDraft(field.fields)])}>
        {field.add}
      </button>
    </>
  );
}

function Variants({ field, value, onChange, errors, path }: GroupProps<Extract<GroupSpec, { kind: 'variants' }>>) {
  const chosen = isDraft(value) ? field.variants.find(({ name }) => name in value.values) : undefined;
  const choose = (name: string) => {
    const next = field.variants.find((variant) => variant.name === name);
    onChange(next ? draftOf([next], {}) : null);
  };
  const options = [['', field.none] as const, ...field.variants.map(({ name, said }) => [name, said[0]] as const)];
  return (
    <>
      <Select aria-label={field.said[0]} options={options} value={chosen?.name ?? ''} set={choose} />
      {chosen && isDraft(value) && (
        <Fields fields={[chosen]} draft={value} onChange={onChange} errors={errors} at={`${path}.`} />
      )}
    </>
  );
}
