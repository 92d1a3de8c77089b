import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Shortcut {
  /** As in `KeyboardEvent.key`: `?`, `1`, `Escape`. */
  key: string;
  /** What the keyboard help says it does. */
  does: string;
  run(event: KeyboardEvent): void;
}

/** What the page that is shown has; for the keyboard help. */
export const shortcuts = signal<readonly Shortcut[]>([]);

const TYPING = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]';

/** Keys of one letter mean nothing while someone types, with a modifier, or behind a dialog. */
export function isFree(event: KeyboardEvent): boolean {
  // a key that is held down would act on what comes next, too
  if (event.repeat) return false;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.target instanceof Element && event.target.closest(TYPING)) return false;
  return document.querySelector('dialog[open]') === null;
}

/** Keys of every field: Ctrl + Enter sends its form; Escape leaves it, so that the keys of the page are free again. */
export function fieldKeys(event: KeyboardEvent): void {
  const { target, key } = event;
  if (!(target instanceof HTMLElement) || event.isComposing || event.defaultPrevented) return;
  if (key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    const form = target.closest('form') ?? document.querySelector<HTMLFormElement>('#desk-form');
    if (!form || event.repeat) return;
    event.preventDefault();
    form.requestSubmit();
  }
  if (key === 'Escape' && target.matches('input, textarea, select') && !target.closest('dialog')) target.blur();
}

/** Keys of a page, for as long as it is shown. They stand in the keyboard help. */
export function useShortcuts(all: readonly Shortcut[]): void {
  const current = useRef(all);
  current.current = all;
  const named = all.map(({ key, does }) => `${key} ${does}`).join('\n');
  // as soon as it is shown: who is quick would press a key that no one hears, or see no help for it
  useLayoutEffect(() => {
    shortcuts.value = current.current;
    return () => {
      shortcuts.value = [];
    };
  }, [named]);
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!isFree(event)) return;
      const found = current.current.find(({ key }) => key === event.key);
      if (!found) return;
      event.preventDefault();
      found.run(event);
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
}
