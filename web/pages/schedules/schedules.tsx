import { useLocation } from 'preact-iso';
import { api, data, type Schemas } from '../../api/client.ts';
import { useGet, useList } from '../../api/resource.ts';
import { Action, DeleteButton } from '../../components/action.tsx';
import { Filters, word } from '../../components/form/filters.tsx';
import { count, type FieldSpec, seconds, zone } from '../../components/form/spec.ts';
import { moment, number, span } from '../../components/format.ts';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';

type Schedule = Schemas['Schedule'];
const MOST_TOPICS = 500;

/** Periodic jobs, topic by topic. */
export function Schedules() {
  const t = texts.value;
  const { query } = useLocation();
  const topic = query.topic ?? '';
  return (
    <Page title={t.pages.schedules}>
      <p class="muted lead">{t.schedules.lead}</p>
      <Chooser key={topic} chosen={topic} />
      {topic === '' ? <Empty>{t.schedules.choose}</Empty> : <Found topic={topic} />}
    </Page>
  );
}

function Chooser({ chosen }: { chosen: string }) {
  const known = useGet('/v1/topics', { query: { limit: MOST_TOPICS } });
  const suggestions = known.data?.items.map(({ name }) => name) ?? [];
  const fields = [word('topic', texts.value.items.fields.topic, { suggestions })];
  return <Filters path="/schedules" fields={fields} given={{ topic: chosen }} />;
}

function Found({ topic }: { topic: string }) {
  const t = texts.value.schedules;
  const list = useList('/v1/topics/{topic}/schedules', { path: { topic } });
  return (
    <Listing
      title={t.of(topic)}
      list={list}
      columns={columns(list.refresh)}
      empty={t.none}
      actions={<EditSchedule topic={topic} onSaved={list.refresh} />}
    />
  );
}

function columns(refresh: () => void): Column<Schedule>[] {
  const { schedules: t, common } = texts.value;
  const c = t.columns;
  return [
    { title: common.name, cell: ({ name }) => name },
    { title: c.rhythm, cell: rhythm },
    { title: t.timezone[0], cell: ({ timezone }) => timezone },
    { title: t.priority[0], numeric: true, cell: ({ priority }) => number(priority) },
    { title: c.next, cell: ({ nextAt }) => (nextAt?.[0] ? moment(nextAt[0]) : '–') },
    {
      title: c.actions,
      cell: (schedule) => (
        <span class="actions">
          <EditSchedule topic={schedule.topic} given={schedule} onSaved={refresh} />
          <DeleteButton name={schedule.name} hint={t.deleteHint} run={remove(schedule)} onDone={refresh} isOneOfMany />
        </span>
      ),
    },
  ];
}

const rhythm = ({ everySeconds, cron }: Schedule) =>
  everySeconds === null ? <code>{cron}</code> : texts.value.tasks.everyMinutes(span(everySeconds));

const remove =
  ({ topic, name }: Schedule) =>
  () =>
    data(api.DELETE('/v1/topics/{topic}/schedules/{name}', { params: { path: { topic, name } } }));

const scheduleFields = ({ schedules: t }: Texts, isNew: boolean): FieldSpec[] => [
  ...(isNew ? [{ kind: 'text', name: 'name', said: t.name, empty: 'required' } as const] : []),
  { ...seconds('everySeconds', t.everySeconds, null), empty: 'omit' },
  { kind: 'text', name: 'cron', said: t.cron, empty: 'omit' },
  zone(t.timezone),
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
function EditSchedule({ topic, given, onSaved }: Props) {
  const t = texts.value.schedules;
  const save = async ({ name = given?.name ?? '', ...body }: Schemas['ScheduleSettings'] & { name?: string }) => {
    await data(api.PUT('/v1/topics/{topic}/schedules/{name}', { params: { path: { topic, name } }, body }));
    toast(t.saved(name));
  };
  return (
    <Action
      label={given ? t.change : t.create}
      about={given?.name}
      fields={scheduleFields(texts.value, given === undefined)}
      given={given ? settingsOf(given) : null}
      submit={texts.value.common.save}
      run={save}
      onDone={onSaved}
    />
  );
}

function settingsOf({ everySeconds, cron, timezone, body, TTR, priority }: Schemas['Schedule']) {
  return { everySeconds, cron, timezone, body, TTR, priority };
}
