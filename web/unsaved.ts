import { signal } from '@preact/signals';

/** Forms in which something stands that is not saved (web/components/unsaved.ts). */
export const unsavedForms = new Set<object>();

export const isUnsaved = () => unsavedForms.size > 0;

/** What goes on once someone agrees that it is lost; null: no one is asked. Shown by web/shell/unsaved.tsx. */
export const leaving = signal<(() => void) | null>(null);
