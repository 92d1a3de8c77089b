import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** Forms in which something stands that is not saved. */
const unsavedForms = new Set<object>();

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

/** The browser's own question: there is no other for a tab that is closed. */
const ask = (event: BeforeUnloadEvent) => event.preventDefault();

/** As long as something is unsaved, whoever leaves the form is asked first. */
export function useUnsaved(isChanged: boolean): void {
  // before the next event
  useLayoutEffect(() => {
    if (!isChanged) return;
    const form = {};
    unsavedForms.add(form);
    // only then: a page with this listener is not kept for the browser's Back
    addEventListener('beforeunload', ask);
    return () => {
      unsavedForms.delete(form);
      if (!isUnsaved()) removeEventListener('beforeunload', ask);
    };
  }, [isChanged]);
}

/** Nothing is worth keeping any more. */
export function forget(): void {
  unsavedForms.clear();
  removeEventListener('beforeunload', ask);
}
