import type { Option } from './form/spec.ts';
import './form/form.css';
import { KEYS, SYMBOLS, toneOf } from './tones.ts';
import './verdicts.css';

interface Props {
  label: string;
  hint?: string;
  /** Of its field, in what is decided. */
  path: string;
  options: readonly Option[];
  chosen: unknown;
  choose: (value: string) => void;
  error?: string | undefined;
}

/** What can be decided, a button for each, which differ by symbol and colour too. The keys are the page's. */
export function Verdicts({ label, hint, path, options, chosen, choose, error }: Props) {
  return (
    <fieldset class="form-options verdicts">
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      {options.map(([value, option], n) => {
        const tone = toneOf([value, option]);
        return (
          <button
            key={value}
            type="button"
            class={`verdict ${tone}`}
            data-path={path}
            aria-pressed={chosen === value}
            aria-keyshortcuts={n < KEYS ? String(n + 1) : undefined}
            // the second of a double click would be for the next ticket
            onClick={(event) => event.detail < 2 && choose(value)}
          >
            {n < KEYS && <kbd>{n + 1}</kbd>} {option}
            <span class="verdict-symbol" aria-hidden="true">
              {SYMBOLS[tone]}
            </span>
          </button>
        );
      })}
      {error && <p class="error">{error}</p>}
    </fieldset>
  );
}
