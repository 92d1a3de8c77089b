import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts/texts.ts';
import { Button } from './page.tsx';

interface Props {
  title: string;
  open: boolean;
  /** Also called for Escape and a click beside it. */
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons below; without them there is one that closes; false: none. */
  actions?: ComponentChildren;
  /** A class, where it is no plain one. */
  look?: string;
}

/** A modal dialog: the browser keeps the focus in it and gives it back to where it was. */
export function Dialog({ title, open, onClose, children, actions, look }: Props) {
  const id = useId();
  const ref = useRef<HTMLDialogElement>(null);
  const pressed = useRef<EventTarget | null>(null);
  // with the render, not after the paint: a key pressed between the two would go to a dialog that is no longer shown
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (open && dialog && !dialog.open) dialog.showModal();
    if (!open) dialog?.close();
  }, [open]);
  const dismiss = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog
      ref={ref}
      class={look}
      aria-labelledby={id}
      onCancel={dismiss}
      // a second Escape would close it without asking whoever opened it
      onKeyDown={(event) => event.key === 'Escape' && !event.isComposing && dismiss(event)}
      // told late: by then it may have been opened again
      onClose={() => open && !ref.current?.open && onClose()}
      // what is dragged out of it does not close it
      onPointerDown={(event) => {
        pressed.current = event.target;
      }}
      onClick={(event) => event.target === ref.current && pressed.current === ref.current && onClose()}
    >
      {open && (
        <div class="dialog">
          <h2 id={id}>{title}</h2>
          {children}
          {actions !== false && (
            <footer class="actions">{actions ?? <Button does={texts.value.common.close} run={onClose} />}</footer>
          )}
        </div>
      )}
    </dialog>
  );
}
