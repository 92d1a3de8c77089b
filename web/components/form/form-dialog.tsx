import { useId } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { Dialog } from '../dialog.tsx';
import { Fields } from './fields.tsx';
import { Form, useForm } from './form.tsx';
import type { FieldSpec } from './spec.ts';

type Given = Readonly<Record<string, unknown>>;

interface Props {
  title: string;
  fields: readonly FieldSpec[];
  /** What stands in the inputs at first; null: what a new one has. */
  given: Given | null;
  /** On the button that sends it. */
  label: string;
  /** A failure is shown in the dialog, which stays open. */
  onSubmit: (value: Given) => Promise<void>;
  onClose: () => void;
}

/** A form in a dialog that is open. */
export function FormDialog({ title, fields, given, label, onSubmit, onClose }: Props) {
  const id = useId();
  const form = useForm(fields, given);
  const actions = (
    <>
      <button type="button" onClick={onClose}>
        {texts.value.common.cancel}
      </button>
      <button type="submit" form={id} class="primary" disabled={form.busy}>
        {label}
      </button>
    </>
  );
  return (
    <Dialog title={title} open onClose={onClose} actions={actions}>
      <Form id={id} of={form} onSubmit={() => void form.submit(onSubmit)}>
        <Fields fields={fields} draft={form.draft} onChange={form.setDraft} errors={form.problem?.errors ?? []} />
      </Form>
    </Dialog>
  );
}
