import { signal } from '@preact/signals';

/** Forms in which something stands that is not saved (web/components/unsaved.ts). */
export const unsavedForms = new Set<object>();

export const isUnsaved = () => unsavedForms.size > 0;

/** What is on its way to the server by itself, such as a draft or a decision: its page outlives the session, so that it is sent again. */
export const unsent = new Set<object>();

/** What goes on once someone agrees that it is lost; null: no one is asked. Shown by web/shell/unsaved.tsx. */
export const leaving = signal<(() => void) | null>(null);

/** Does what may lose such forms: at once where there are none, else once someone agrees. */
export function askFirst(go: () => void): void {
  if (isUnsaved()) leaving.value = go;
  else go();
}
