import { createContext } from 'preact';
import { useContext, useId, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { Field, Select } from '../field.tsx';
import { span } from '../format.ts';
import { Button } from '../page.tsx';
import type { Draft, DraftValue, FieldError } from './draft.ts';
import { ownTimezone } from './moments.ts';
import type { LeafSpec, Option } from './spec.ts';

interface Props {
  field: LeafSpec;
  value: DraftValue;
  onChange: (value: DraftValue) => void;
  errors: readonly FieldError[];
  path: string;
}

/** The inputs of the whole form. */
export const Whole = createContext<Draft['values']>({});

/** A field with more options than this is a select. */
const FEW = 6;

/** One input with its label, what it does, its unit and its default, and what is wrong with it. */
export function LeafInput({ field, value, onChange, errors, path }: Props) {
  const wrong = errors.filter((e) => e.path === path || e.path.startsWith(`${path}.`));
  const error = wrong.map(({ message }) => texts.value.form.faultIn(message)).join('; ') || undefined;
  const whole = useContext(Whole);
  const [label] = field.said;
  const text = typeof value === 'string' ? value : '';
  const typed = (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement }) =>
    onChange(event.currentTarget.value);
  if (field.kind === 'flag')
    return <FlagInput hint={hintOf(field)} label={label} on={value === true} onChange={onChange} />;
  if (field.kind === 'several' || (field.kind === 'one' && field.options.length <= FEW))
    return <Options field={field} value={text} onChange={onChange} path={path} error={error} />;
  return (
    <Field label={labelOf(field)} hint={hintOf(field)} error={error}>
      {(of) => {
        const bound = { ...of, 'data-path': path };
        const shared = { ...bound, value: text, onInput: typed, spellcheck: false, autocomplete: 'off' as const };
        switch (field.kind) {
          case 'number':
            return <NumberInput field={field} shared={shared} />;
          case 'choice':
            return <Select {...bound} options={withUnknown(field.options, text)} value={text} set={onChange} />;
          case 'one': {
            const options: Option[] = [['', texts.value.form.chooseOne], ...field.options];
            return <Select {...bound} options={options} value={text} set={onChange} />;
          }
          case 'json':
            return <textarea {...shared} class="code" rows={6} />;
          case 'lines':
            return <textarea {...shared} class="lines" rows={2} />;
          case 'date':
            return <input {...shared} type="date" />;
          case 'moment':
            return <input {...shared} type="datetime-local" step={1} />;
          case 'secret':
            return <SecretInput shared={shared} onChange={onChange} />;
          case 'param':
            return <ParamInput type={field.type} shared={shared} bound={bound} onChange={onChange} />;
          default:
            if (field.among) return <Among names={field.among(whole)} value={text} bound={bound} set={onChange} />;
            if (field.isLong) return <textarea {...shared} spellcheck rows={2} />;
            return <TextInput suggestions={field.suggestions} shared={shared} />;
        }
      }}
    </Field>
  );
}

function labelOf(field: LeafSpec): string {
  const t = texts.value.form;
  const [label] = field.said;
  const unit = field.kind === 'number' && field.unit ? ` (${t.seconds})` : '';
  return `${label}${unit}`;
}

function hintOf(field: LeafSpec): string {
  const t = texts.value.form;
  const said = [field.said[1], field.kind === 'lines' ? t.onePerLine : '', defaultOf(field)];
  if (field.kind === 'moment') said.push(t.inZone(ownTimezone()));
  return said.filter(Boolean).join(' ');
}

function defaultOf(field: LeafSpec): string {
  const t = texts.value.form;
  if ('proposed' in field && field.proposed) return '';
  if (field.kind === 'flag') return t.defaultIs(field.initial ? texts.value.common.yes : texts.value.common.no);
  if (field.kind === 'choice')
    return t.defaultIs(field.options.find(([value]) => value === field.initial)?.[1] ?? field.initial);
  if (field.kind === 'number' && field.initial !== null) return t.defaultIs(String(field.initial));
  if (field.kind === 'lines' && field.initial) return t.defaultIs(field.initial.join(', '));
  if (field.kind === 'text' && field.initial) return t.defaultIs(field.initial);
  return '';
}

function FlagInput(props: { label: string; hint: string; on: boolean; onChange: (value: boolean) => void }) {
  const id = useId();
  return (
    <div class="field">
      <label class="form-flag">
        <input
          type="checkbox"
          checked={props.on}
          aria-describedby={id}
          onChange={(event) => props.onChange(event.currentTarget.checked)}
        />
        {props.label}
      </label>
      <p id={id} class="hint">
        {props.hint}
      </p>
    </div>
  );
}

function NumberInput({ field, shared }: { field: Extract<LeafSpec, { kind: 'number' }>; shared: Shared }) {
  const n = Number(shared.value);
  const long = field.unit && shared.value.trim() !== '' && n >= 60 ? `= ${span(n)}` : '';
  return (
    <div class="form-beside">
      <input {...shared} type="text" inputMode="decimal" />
      <span class="muted">{long}</span>
    </div>
  );
}

function TextInput({ suggestions, shared }: { suggestions: readonly string[] | undefined; shared: Shared }) {
  const list = useId();
  if (!suggestions) return <input {...shared} type="text" />;
  return (
    <>
      <input {...shared} type="text" list={list} />
      <datalist id={list}>
        {suggestions.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}

interface AmongProps {
  names: readonly string[];
  value: string;
  bound: { id: string };
  set: (value: string) => void;
}

function Among({ names, value, bound, set }: AmongProps) {
  const options = ['', ...names].map((name): Option => [name, name || texts.value.common.none]);
  return <Select {...bound} options={withUnknown(options, value)} value={value} set={set} />;
}

interface ParamProps {
  type: Extract<LeafSpec, { kind: 'param' }>['type'];
  shared: Shared;
  bound: { id: string };
  onChange: (value: string) => void;
}

function ParamInput({ type, shared, bound, onChange }: ParamProps) {
  const { yes, no } = texts.value.common;
  if (type === 'object' || type === 'array') return <textarea {...shared} class="code" rows={4} />;
  if (type !== 'boolean') return <input {...shared} type="text" inputMode={type === 'number' ? 'decimal' : 'text'} />;
  const options: Option[] = [
    ['', '–'],
    ['true', yes],
    ['false', no],
  ];
  return <Select {...bound} options={options} value={shared.value} set={onChange} />;
}

/** A value that the console does not know is one of the choices, so that it stays. */
const withUnknown = (options: readonly Option[], value: string): readonly Option[] =>
  options.some(([known]) => known === value) ? options : [...options, [value, value]];

/** What every input of a form bears. */
interface Shared {
  id: string;
  value: string;
  onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => void;
}

interface OptionsProps {
  field: Extract<LeafSpec, { kind: 'one' | 'several' }>;
  /** As in the draft: the chosen values, one per line. */
  value: string;
  onChange: (value: string) => void;
  path: string;
  error: string | undefined;
}

/** All options of a field: radio buttons, or checkboxes where several may be chosen. */
function Options({ field: { kind, options, said }, value, onChange, path, error }: OptionsProps) {
  const errorId = useId();
  const [label, does] = said;
  const chosen = value.split('\n');
  const toggle = (one: string) =>
    options.flatMap(([other]) => (chosen.includes(other) !== (other === one) ? [other] : [])).join('\n');
  return (
    <fieldset class="form-options" aria-describedby={error && errorId}>
      <legend>{label}</legend>
      {does && <p class="hint">{does}</p>}
      {options.map(([one, said]) => (
        <label key={one}>
          <input
            type={kind === 'one' ? 'radio' : 'checkbox'}
            name={path}
            data-path={path}
            checked={chosen.includes(one)}
            onChange={() => onChange(kind === 'one' ? one : toggle(one))}
          />
          {said}
        </label>
      ))}
      {error && (
        <p id={errorId} class="error">
          {error}
        </p>
      )}
    </fieldset>
  );
}

const BYTES = 32;

/** As Standard Webhooks has it: `whsec_` and base64. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** A secret, shown only when someone wants to see it; a new one is drawn in the browser. */
function SecretInput({ shared, onChange }: { shared: Shared; onChange: (value: string) => void }) {
  const t = texts.value.form;
  const [seen, setSeen] = useState(false);
  const draw = () => {
    onChange(newSecret());
    setSeen(true);
  };
  return (
    <div class="form-beside">
      {seen ? <input {...shared} type="text" /> : <input {...shared} type="password" />}
      <button type="button" aria-pressed={seen} onClick={() => setSeen(!seen)}>
        {t.show}
      </button>
      <Button does={t.newSecret} run={draw} />
    </div>
  );
}
