import { useId, useState } from 'preact/hooks';
import { api, data, type Schemas } from '../../api/client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Fields } from '../../components/form/fields.tsx';
import { Form, useForm } from '../../components/form/form.tsx';
import { count, type FieldSpec, seconds } from '../../components/form/spec.ts';
import { zones } from '../../components/form/zones.ts';
import { toast } from '../../components/toasts.tsx';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';

const scheduleFields = ({ schedules: t }: Texts, isNew: boolean): FieldSpec[] => [
  ...(isNew ? [{ kind: 'text', name: 'name', said: t.name, empty: 'required' } as const] : []),
  { ...seconds('everySeconds', t.everySeconds, null), empty: 'omit' },
  { kind: 'text', name: 'cron', said: t.cron, empty: 'omit' },
  { kind: 'text', name: 'timezone', said: t.timezone, empty: 'omit', initial: 'UTC', suggestions: zones() },
  { ...seconds('TTR', t.ttr, 60), empty: 'omit' },
  { ...count('priority', t.priority, 1024), empty: 'omit' },
  { kind: 'json', name: 'body', said: t.body, empty: 'null' },
];

interface Props {
  topic: string;
  /** What is changed; without it a new one is made. */
  given?: Schemas['Schedule'];
  onSaved: () => void;
}

/** A button that opens a schedule's form. */
export function EditSchedule(props: Props) {
  const t = texts.value.schedules;
  const [open, setOpen] = useState(false);
  const { given } = props;
  return (
    <>
      <button
        type="button"
        {...(given && { 'aria-label': `${t.change}: ${given.name}` })}
        onClick={() => setOpen(true)}
      >
        {given ? t.change : t.create}
      </button>
      {open && <Editor {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function settingsOf({ topic: _t, name: _n, createdAt: _c, updatedAt: _u, ...settings }: Schemas['Schedule']) {
  return settings;
}

function Editor({ topic, given, onSaved, onClose }: Props & { onClose: () => void }) {
  const { schedules: t, common } = texts.value;
  const id = useId();
  const fields = scheduleFields(texts.value, given === undefined);
  const form = useForm(fields, given ? settingsOf(given) : null);
  const save = () =>
    form.submit(async ({ name: entered, ...settings }) => {
      const name = given?.name ?? String(entered);
      const body = settings as Schemas['ScheduleSettings'];
      await data(api.PUT('/v1/topics/{topic}/schedules/{name}', { params: { path: { topic, name } }, body }));
      toast(t.saved(name));
      onClose();
      onSaved();
    });
  const actions = (
    <>
      <button type="button" onClick={onClose}>
        {common.cancel}
      </button>
      <button type="submit" form={id} class="primary" disabled={form.busy}>
        {t.save}
      </button>
    </>
  );
  return (
    <Dialog title={given?.name ?? t.create} open onClose={onClose} actions={actions}>
      <Form id={id} of={form} onSubmit={() => void save()}>
        <Fields fields={fields} draft={form.draft} onChange={form.setDraft} errors={form.problem?.errors ?? []} />
      </Form>
    </Dialog>
  );
}
