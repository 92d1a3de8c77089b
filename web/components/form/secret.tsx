import { useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import type { Shared } from './shared.ts';

const BYTES = 32;

/** As Standard Webhooks has it: `whsec_` and base64. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** A secret, shown only when someone wants to see it; a new one is drawn in the browser. */
export function SecretInput({ shared, onChange }: { shared: Shared; onChange: (value: string) => void }) {
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
      <button type="button" onClick={draw}>
        {t.newSecret}
      </button>
    </div>
  );
}
