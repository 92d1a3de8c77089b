import { useId } from 'preact/hooks';
import type { LeafSpec } from './spec.ts';

interface Props {
  field: Extract<LeafSpec, { kind: 'one' | 'several' }>;
  /** As in the draft: the chosen values, one per line. */
  value: string;
  onChange: (value: string) => void;
  path: string;
  error: string | undefined;
}

/** All options of a field: radio buttons, or checkboxes where several may be chosen. */
export function Options({ field: { kind, options, said }, value, onChange, path, error }: Props) {
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
