import { signal } from '@preact/signals';

interface Toast {
  id: number;
  text: string;
  tone: 'neutral' | 'bad';
}

const SHOWN_MS = 6_000;
const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Says something for six seconds, also to screen readers. What must not be missed belongs on the page. */
export function toast(text: string, tone: Toast['tone'] = 'neutral'): void {
  const id = ++last;
  toasts.value = [...toasts.value, { id, text, tone }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((t) => t.id !== id);
  }, SHOWN_MS);
}

export function Toasts() {
  return (
    <output class="toasts" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <p key={id} class={`toast ${tone}`}>
          {text}
        </p>
      ))}
    </output>
  );
}
