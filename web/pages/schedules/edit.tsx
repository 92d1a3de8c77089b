import { api, data, type Schemas } from '../../api/client.ts';
import { Action } from '../../components/action.tsx';
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
export function EditSchedule({ topic, given, onSaved }: Props) {
  const t = texts.value.schedules;
  const save = async ({ name: entered, ...settings }: Readonly<Record<string, unknown>>) => {
    const name = given?.name ?? String(entered);
    const body = settings as Schemas['ScheduleSettings'];
    await data(api.PUT('/v1/topics/{topic}/schedules/{name}', { params: { path: { topic, name } }, body }));
    toast(t.saved(name));
    onSaved();
  };
  return (
    <Action
      label={given ? t.change : t.create}
      about={given?.name}
      fields={scheduleFields(texts.value, given === undefined)}
      given={given ? settingsOf(given) : null}
      submit={texts.value.common.save}
      run={save}
    />
  );
}

function settingsOf({ everySeconds, cron, timezone, body, TTR, priority }: Schemas['Schedule']) {
  return { everySeconds, cron, timezone, body, TTR, priority };
}
