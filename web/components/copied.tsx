import { useId, useRef } from 'preact/hooks';
import { texts } from '../texts/texts.ts';
import { Button } from './page.tsx';
import './form/form.css';
import { toast } from './toasts.tsx';

/** A text to take along, with a button that copies it. */
export function Copied({ label, text }: { label: string; text: string }) {
  const t = texts.value.common;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const copy = async () => {
    input.current?.select();
    // the clipboard is only there in secure contexts; the older call works everywhere
    if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(() => document.execCommand('copy'));
    else document.execCommand('copy');
    toast(t.copied);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="form-beside">
        <input ref={input} id={id} type="text" readOnly value={text} onFocus={(e) => e.currentTarget.select()} />
        <Button does={t.copy} run={copy} />
      </div>
    </div>
  );
}
