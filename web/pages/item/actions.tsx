import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toasts.tsx';
import { texts } from '../../texts/texts.ts';

interface Props {
  label: string;
  title: string;
  /** What it will do. */
  will: string;
  /** Said once it is done. */
  done: string;
  danger?: boolean;
  /** `optional`: the API keeps a reason if there is one. */
  reason?: 'required' | 'optional';
  /** Fields that it needs beside a reason. */
  children?: ComponentChildren;
  run: (reason: string) => Promise<unknown>;
}

/** A button for something that is done to an item: it says what it will do, asks why, and says when it is done. */
export function Action({ label, title, will, done, danger = false, reason: wanted, children, run }: Props) {
  const [reason, setReason] = useState('');
  const t = texts.value.items.actions;
  const act = async () => {
    await run(reason.trim());
    setReason('');
    toast(done);
  };
  return (
    <ConfirmButton label={label} title={title} danger={danger} run={act}>
      <p>{will}</p>
      {children}
      {wanted && (
        <Field label={wanted === 'required' ? t.reason : t.reasonOptional} hint={t.reasonHint}>
          {(field) => (
            <input
              {...field}
              type="text"
              value={reason}
              maxLength={200}
              required={wanted === 'required'}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </ConfirmButton>
  );
}

interface TextProps {
  label: string;
  hint?: string;
  value: string;
  set: (value: string) => void;
}

/** One input in an action's dialog. */
export function Input({ label, hint, value, set }: TextProps) {
  return (
    <Field label={label} hint={hint}>
      {(field) => <input {...field} type="text" value={value} onInput={(event) => set(event.currentTarget.value)} />}
    </Field>
  );
}
