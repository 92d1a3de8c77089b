import { Field as Labelled } from '../../../components/field.tsx';
import { texts } from '../../../texts/texts.ts';
import type { Draft } from './draft.ts';
import type { Choice, Field } from './schema.ts';

interface Props {
  field: Field;
  draft: Draft;
  /** By path: why a value will not do, in words. */
  faults: Readonly<Record<string, string>>;
  /** undefined: emptied. */
  change: (path: string, value: Draft[string] | undefined) => void;
}

const FEW = 6;
/** Texts that may be longer have more room. */
const SHORT = 80;

/** One part of a decision. */
export function FormField(props: Props) {
  const { field } = props;
  switch (field.kind) {
    case 'fixed':
      return null;
    case 'group':
      return <Group {...props} field={field} />;
    case 'choices':
      return <Several {...props} field={field} />;
    case 'choice':
      return field.options.length <= FEW ? (
        <OneOfFew {...props} field={field} />
      ) : (
        <OneOfMany {...props} field={field} />
      );
    default:
      return <Typed {...props} field={field} />;
  }
}

type Of<K extends Field['kind']> = Props & { field: Field & { kind: K } };

export const labelOf = ({ label, required }: Field) =>
  required || label === '' ? label : `${label} (${texts.value.desk.decision.optional})`;

export function labelOfChoice({ value, label }: Choice): string {
  const { yes, no } = texts.value.common;
  return label || (value === true ? yes : no);
}

function Group({ field, ...props }: Of<'group'>) {
  const inner = field.fields.map((one) => <FormField key={one.path} {...props} field={one} />);
  if (field.path === '') return <>{inner}</>;
  return (
    <fieldset class="desk-group">
      <legend>{labelOf(field)}</legend>
      {field.hint && <p class="hint">{field.hint}</p>}
      {inner}
    </fieldset>
  );
}

function Options({ field, faults, children }: Of<'choice' | 'choices'> & { children: preact.ComponentChildren }) {
  const fault = faults[field.path];
  const errorId = `fault-${field.path}`;
  return (
    <fieldset class="desk-options" aria-describedby={fault ? errorId : undefined}>
      <legend>{labelOf(field)}</legend>
      {field.hint && <p class="hint">{field.hint}</p>}
      {children}
      {fault && (
        <p id={errorId} class="error">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

function OneOfFew(props: Of<'choice'>) {
  const { field, draft, change } = props;
  return (
    <Options {...props}>
      {field.options.map((option, n) => (
        <label key={n}>
          <input
            type="radio"
            name={`decision${field.path}`}
            data-path={field.path}
            checked={draft[field.path] === n}
            onChange={() => change(field.path, n)}
          />
          {labelOfChoice(option)}
        </label>
      ))}
    </Options>
  );
}

function Several(props: Of<'choices'>) {
  const { field, draft, change } = props;
  const chosen = (draft[field.path] ?? []) as readonly number[];
  const toggle = (n: number) =>
    change(
      field.path,
      chosen.includes(n) ? chosen.filter((one) => one !== n) : [...chosen, n].toSorted((a, b) => a - b),
    );
  return (
    <Options {...props}>
      {field.options.map((option, n) => (
        <label key={n}>
          <input type="checkbox" data-path={field.path} checked={chosen.includes(n)} onChange={() => toggle(n)} />
          {labelOfChoice(option)}
        </label>
      ))}
    </Options>
  );
}

function OneOfMany({ field, draft, faults, change }: Of<'choice'>) {
  const chosen = draft[field.path];
  return (
    <Labelled label={labelOf(field)} hint={field.hint || undefined} error={faults[field.path]}>
      {(bound) => (
        <select
          {...bound}
          data-path={field.path}
          value={chosen === undefined ? '' : String(chosen)}
          onChange={({ currentTarget: { value } }) => change(field.path, value === '' ? undefined : Number(value))}
        >
          <option value="">{texts.value.desk.decision.chooseOne}</option>
          {field.options.map((option, n) => (
            <option key={n} value={n}>
              {labelOfChoice(option)}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

function Typed({ field, draft, faults, change }: Of<'text' | 'number' | 'json'>) {
  const t = texts.value.desk.decision;
  const isLong = field.kind === 'json' || (field.kind === 'text' && (field.most ?? Number.POSITIVE_INFINITY) > SHORT);
  const range = field.kind === 'number' ? t.range(field.least, field.most) : field.kind === 'json' ? t.json : '';
  const hint = [field.hint, range].filter((part) => part !== '').join(' · ');
  return (
    <Labelled label={labelOf(field) || t.title} hint={hint || undefined} error={faults[field.path]}>
      {(bound) => {
        const common = {
          ...bound,
          'data-path': field.path,
          value: String(draft[field.path] ?? ''),
          onInput: (event: preact.TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) =>
            change(field.path, event.currentTarget.value || undefined),
        };
        if (isLong) return <textarea {...common} rows={2} class={field.kind === 'json' ? 'desk-json' : ''} />;
        return <input {...common} type="text" inputmode={field.kind === 'number' ? 'decimal' : 'text'} />;
      }}
    </Labelled>
  );
}
