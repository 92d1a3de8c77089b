import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** Forms in which something stands that is not saved. */
const forms = new Set<object>();

/** What goes on once someone agrees that it is lost; null: no one is asked. Shown by web/shell/unsaved.tsx. */
export const leaving = signal<(() => void) | null>(null);

export const isUnsaved = () => forms.size > 0;

/** The browser's own question: there is no other for a tab that is closed. */
const ask = (event: BeforeUnloadEvent) => event.preventDefault();

/** As long as something is unsaved, whoever leaves the form is asked first. */
export function useUnsaved(isChanged: boolean): void {
  // before the next event
  useLayoutEffect(() => {
    if (!isChanged) return;
    const form = {};
    forms.add(form);
    // only then: a page with this listener is not kept for the browser's Back
    addEventListener('beforeunload', ask);
    return () => {
      forms.delete(form);
      if (!isUnsaved()) removeEventListener('beforeunload', ask);
    };
  }, [isChanged]);
}

/** Nothing is worth keeping any more. */
export function forget(): void {
  forms.clear();
  removeEventListener('beforeunload', ask);
}
