import { useLayoutEffect } from 'preact/hooks';
import { isUnsaved, unsavedForms } from '../unsaved.ts';

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
