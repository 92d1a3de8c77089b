import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  label: string;
  hint?: string | undefined;
  /** Why the value is not right. */
  error?: string | undefined;
  /** Gets what the input must bear: `<input {...field} type="text" />`. */
  children: (field: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ComponentChildren;
}

/** A labelled input with its hint and its error, which screen readers read with it. */
export function Field({ label, hint, error, children }: Props) {
  const id = useId();
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const described = [hint && hintId, error && errorId].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': Boolean(error) })}
      {hint && (
        <p id={hintId} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={errorId} class="error">
          {error}
        </p>
      )}
    </div>
  );
}

interface TextProps extends Omit<Props, 'children'> {
  value: string;
  set: (value: string) => void;
  required?: boolean;
}

/** One for a text: as typed, without the browser's proposals. */
export function TextField({ value, set, required, ...props }: TextProps) {
  return (
    <Field {...props}>
      {(field) => (
        <input
          {...field}
          type="text"
          autocomplete="off"
          spellcheck={false}
          required={required}
          value={value}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps {
  id?: string;
  'aria-label'?: string;
  options: readonly (readonly [value: string, label: string])[];
  value: string;
  set: (value: string) => void;
}

/** A choice among words. */
export function Select({ options, value, set, ...rest }: SelectProps) {
  return (
    <select {...rest} value={value} onChange={(event) => set(event.currentTarget.value)}>
      {options.map(([known, label]) => (
        <option key={known} value={known}>
          {label}
        </option>
      ))}
    </select>
  );
}
