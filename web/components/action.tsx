import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { texts } from '../texts/texts.ts';
import { leaving } from '../unsaved.ts';
import { Dialog } from './dialog.tsx';
import { Fields } from './form/fields.tsx';
import { Form, useForm } from './form/form.tsx';
import type { FieldSpec, Given } from './form/spec.ts';
import { Button } from './page.tsx';
import { toast } from './toasts.tsx';

interface DialogProps {
  title: string;
  /** What it will do. */
  will?: ComponentChildren;
  /** What it needs to know; a hook, where that takes a call. */
  fields?: readonly FieldSpec[] | (() => readonly FieldSpec[]);
  /** What stands in the inputs at first; null: what a new one has. */
  given?: Given | null;
  /** On the button that does it. */
  submit: string;
  danger?: boolean | undefined;
  /** A failure is shown in the dialog, which stays open. */
  run(value: Given): Promise<unknown>;
  /** Once it is done: what else shows it looks again, say. */
  onDone?: (() => void) | undefined;
  /** Said once it is done. */
  done?: string;
  onClose: () => void;
}

interface Props extends Omit<DialogProps, 'title' | 'submit' | 'onClose'> {
  /** On the button, and on the one that does it unless `submit` says more. */
  label: string;
  submit?: string;
  /** What it is about, where several buttons have the same label. */
  about?: string | undefined;
  /** Of the dialog; left out: what it is about, else its label. */
  title?: string;
  primary?: boolean;
}

/** A button whose action is done after a dialog that says what it will do, and asks what it needs to know. */
export function Action({ label, about, title = about ?? label, submit = label, primary, ...rest }: Props) {
  const [open, setOpen] = useState(false);
  const look = rest.danger ? 'danger' : primary ? 'primary' : '';
  return (
    <>
      <Button does={label} about={about} run={() => setOpen(true)} look={look} />
      {open && <ActionDialog {...{ title, submit }} {...rest} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The first field has the focus, and who closes it half filled in is asked. */
export function ActionDialog({
  title,
  will,
  fields: asked = [],
  given = null,
  submit,
  danger,
  run,
  onDone,
  done,
  onClose,
}: DialogProps) {
  const id = useId();
  const fields = typeof asked === 'function' ? asked() : asked;
  const form = useForm(fields, given);
  const close = () => {
    // its failure would be seen by no one
    if (form.busy) return;
    if (form.isTouched) leaving.value = onClose;
    else onClose();
  };
  const send = async (value: Given) => {
    await run(value);
    onDone?.();
    if (done) toast(done);
    onClose();
  };
  const actions = (
    <>
      <Button does={texts.value.common.cancel} run={close} disabled={form.busy} />
      <Button does={submit} look={danger ? 'danger' : 'primary'} disabled={form.busy} form={id} />
    </>
  );
  return (
    <Dialog title={title} open onClose={close} actions={actions}>
      {will && <p>{will}</p>}
      <Form id={id} of={form} onSubmit={() => void form.submit(send)}>
        {fields.length > 0 && (
          <Fields fields={fields} draft={form.draft} onChange={form.setDraft} errors={form.problem?.errors ?? []} />
        )}
      </Form>
    </Dialog>
  );
}

interface DeleteProps extends Pick<DialogProps, 'run' | 'onDone'> {
  name: string;
  /** What it means. */
  hint: string;
  /** Several on the page have such a button. */
  isOneOfMany?: boolean;
}

/** A button that deletes something for good, after a question. */
export function DeleteButton({ name, hint, isOneOfMany = false, ...rest }: DeleteProps) {
  const { settings: t, items } = texts.value;
  const about = isOneOfMany ? name : undefined;
  const title = t.deleteTitle(name);
  const { label } = items.actions.delete;
  return <Action danger {...{ label, about, title }} {...rest} will={hint} done={t.deleted(name)} />;
}
