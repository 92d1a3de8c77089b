import { Field } from './field.tsx';

interface Props {
  label: string;
  hint: string;
  error?: string | undefined;
  value: string;
  onChange: (value: string) => void;
}

const LONGEST = 200;

/** For a name as the API allows names: as typed, without the browser's proposals. */
export function NameField({ label, hint, error, value, onChange }: Props) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(field) => (
        <input
          {...field}
          type="text"
          maxLength={LONGEST}
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
