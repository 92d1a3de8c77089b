import { useId, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { leaving } from '../../unsaved.ts';
import { Dialog } from '../dialog.tsx';
import { Fields } from './fields.tsx';
import { Form, useForm } from './form.tsx';
import type { FieldSpec } from './spec.ts';

type Given = Readonly<Record<string, unknown>>;

interface Props {
  /** On the button that opens the form. */
  label: string;
  /** What it is about, where several buttons have the same label. */
  about?: string | undefined;
  primary?: boolean;
  fields: readonly FieldSpec[];
  /** What stands in the inputs at first; null: what a new one has. */
  given: Given | null;
  /** On the button that sends it. */
  submit: string;
  /** A failure is shown in the dialog, which stays open. */
  onSubmit: (value: Given) => Promise<void>;
}

/** A button that opens a form in a dialog, which closes when it has been sent. */
export function FormButton({ label, about, primary = false, ...form }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class={primary ? 'primary' : ''}
        aria-label={about && `${label}: ${about}`}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {open && <FormDialog title={about ?? label} {...form} onClose={() => setOpen(false)} />}
    </>
  );
}

type DialogProps = Pick<Props, 'fields' | 'given' | 'submit' | 'onSubmit'> & { title: string; onClose: () => void };

/** A form in a dialog: the first field has the focus, and who closes it half filled in is asked. */
export function FormDialog({ title, fields, given, submit, onSubmit, onClose }: DialogProps) {
  const id = useId();
  const form = useForm(fields, given);
  const close = () => {
    // its failure would be seen by no one
    if (form.busy) return;
    if (form.isTouched) leaving.value = onClose;
    else onClose();
  };
  const send = async (value: Given) => {
    await onSubmit(value);
    onClose();
  };
  const actions = (
    <>
      <button type="button" onClick={close}>
        {texts.value.common.cancel}
      </button>
      <button type="submit" form={id} class="primary" disabled={form.busy}>
        {submit}
      </button>
    </>
  );
  return (
    <Dialog title={title} open onClose={close} actions={actions}>
      <Form id={id} of={form} onSubmit={() => void form.submit(send)}>
        <Fields fields={fields} draft={form.draft} onChange={form.setDraft} errors={form.problem?.errors ?? []} />
      </Form>
    </Dialog>
  );
}
