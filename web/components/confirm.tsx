import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAttempt } from '../api/attempt.ts';
import { texts } from '../texts/texts.ts';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './feedback.tsx';

interface Props {
  /** On the button, and on the one that does it. */
  label: string;
  /** What it is done to, where several buttons have the same label; for screen readers. */
  about?: string;
  title: string;
  /** What it will do, and fields that it needs. */
  children: ComponentChildren;
  run: () => Promise<unknown>;
  danger?: boolean;
  disabled?: boolean;
}

/**
 * A button whose action is done after a dialog that says what it will do. A failure is shown in the dialog, which stays open.
 */
export function ConfirmButton({ label, about, title, children, run, danger = false, disabled = false }: Props) {
  const [open, setOpen] = useState(false);
  const { busy, problem, attempt, forget } = useAttempt();
  const show = () => {
    forget();
    setOpen(true);
  };
  // its failure would be seen by no one
  const close = () => !busy && setOpen(false);
  const style = danger ? 'danger' : '';
  const confirmed = () =>
    attempt(async () => {
      await run();
      setOpen(false);
    });
  const actions = (
    <>
      <button type="button" disabled={busy} onClick={close}>
        {texts.value.common.cancel}
      </button>
      <button type="button" class={danger ? 'danger' : 'primary'} disabled={busy} onClick={() => void confirmed()}>
        {label}
      </button>
    </>
  );
  return (
    <>
      <button type="button" class={style} disabled={disabled} aria-label={about && `${label}: ${about}`} onClick={show}>
        {label}
      </button>
      <Dialog title={title} open={open} onClose={close} actions={actions}>
        {children}
        {problem && <ProblemNote problem={problem} />}
      </Dialog>
    </>
  );
}
