import { texts } from '../../texts/texts.ts';
import { Select } from '../field.tsx';
import { Button } from '../page.tsx';
import {
  builtDraft,
  type Draft,
  type DraftValue,
  draftOf,
  emptyDraft,
  type FieldError,
  isDraft,
  read,
} from './draft.ts';
import './form.css';
import { LeafInput, Whole } from './inputs.tsx';
import type { BuiltField, FieldSpec, GroupSpec } from './spec.ts';

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
  const grid = (
    <div class="form-grid">
      {fields.map((field) => {
        if (field.kind === 'fixed' || field.onlyIf?.(draft.values) === false) return null;
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
  return at === '' ? <Whole.Provider value={draft.values}>{grid}</Whole.Provider> : grid;
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
  // JSON says itself what is wrong with it
  const error = typeof rest.value !== 'string' && rest.errors.find(({ path }) => path === rest.path);
  return (
    <fieldset class="form-group">
      <legend>{label}</legend>
      {does && <p class="hint">{does}</p>}
      {error && <p class="error">{texts.value.form.faultIn(error.message)}</p>}
      {field.kind === 'built' ? (
        <Built field={field} {...rest} />
      ) : field.kind === 'rows' ? (
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

function Built({ field, value, onChange, ...rest }: GroupProps<BuiltField>) {
  const t = texts.value.form;
  const shown = { base: {}, values: { [field.name]: value } };
  const { value: said, errors: wrong } = read([field], shown, t.wrong);
  const json = said[field.name];
  const draft = isDraft(value) ? value : null;
  const built = draft || wrong.length > 0 ? null : builtDraft(field, json);
  const asText = () => JSON.stringify(json ?? undefined, null, 2) ?? '';
  return (
    <div class={field.preview && 'form-preview'}>
      <div class="stack">
        {draft ? (
          <Inputs fields={field.fields} kept={field.kept} {...{ draft, onChange }} {...rest} />
        ) : (
          <LeafInput
            {...rest}
            {...{ value, onChange }}
            field={{ ...field, kind: 'json', said: [t.asJson(field.said[0]), ''] }}
          />
        )}
        <p class="row">
          <Button
            does={draft ? t.toJson : t.toInputs}
            run={() => onChange(draft ? asText() : built)}
            look="quiet"
            disabled={!draft && !built}
          />
          {!draft && !built && <span class="hint">{t.onlyJson}</span>}
        </p>
      </div>
      {wrong.length === 0 && field.preview?.(json)}
    </div>
  );
}

interface InputsProps extends Omit<FieldsProps, 'at'> {
  kept: ((parts: Draft['base']) => string[]) | undefined;
  path: string;
}

/** The inputs of an object, and what else stands in it. */
function Inputs({ kept, path, ...rest }: InputsProps) {
  const names = kept?.(rest.draft.base) ?? [];
  return (
    <>
      <Fields {...rest} at={`${path}.`} />
      {names.length > 0 && <p class="hint">{texts.value.form.kept(names.join(', '))}</p>}
    </>
  );
}

/** A row keeps the focus where it is moved. */
function focusOn(button: HTMLElement, by: -1 | 1): void {
  const row = button.closest('.form-row');
  const buttons = (by < 0 ? row?.previousElementSibling : row?.nextElementSibling)?.lastElementChild;
  for (const way of [`[data-by="${-by}"]:enabled`, `[data-by="${by}"]:enabled`])
    buttons?.querySelector<HTMLElement>(way)?.focus();
}

function Rows({ field, value, onChange, errors, path }: GroupProps<Extract<GroupSpec, { kind: 'rows' }>>) {
  const t = texts.value.form;
  const rows = Array.isArray(value) ? (value as readonly Draft[]) : [];
  const without = (n: number) => rows.filter((_, other) => other !== n);
  return (
    <>
      {rows.map((row, n) => (
        <fieldset class={`form-row ${field.isTight ? 'tight' : ''}`} key={n}>
          <legend>{field.row(n + 1)}</legend>
          <Inputs
            fields={field.fields}
            kept={field.kept}
            draft={row}
            onChange={(changed) => onChange(rows.with(n, changed))}
            errors={errors}
            path={`${path}.${n}`}
          />
          <p class="row">
            {([-1, 1] as const).map((by) => (
              <button
                key={by}
                type="button"
                data-by={by}
                disabled={rows[n + by] === undefined}
                aria-label={`${t.move[by]}: ${field.row(n + 1)}`}
                onClick={(event) => {
                  onChange(rows.with(n, rows[n + by] as Draft).with(n + by, row));
                  focusOn(event.currentTarget, by);
                }}
              >
                {by < 0 ? '↑' : '↓'}
              </button>
            ))}
            <button type="button" onClick={() => onChange(without(n))} aria-label={`${t.remove}: ${field.row(n + 1)}`}>
              {field.isTight ? '✕' : t.remove}
            </button>
          </p>
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
