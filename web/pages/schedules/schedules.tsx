import { useLocation } from 'preact-iso';
import { api, data, type Schemas } from '../../api/client.ts';
import { useGet, useList } from '../../api/resource.ts';
import { DeleteButton } from '../../components/action.tsx';
import { Filters, word } from '../../components/form/filters.tsx';
import { moment, number, span } from '../../components/format.ts';
import { Empty, Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { EditSchedule } from './edit.tsx';

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
  const fields = [word('topic', texts.value.schedules.topic, { suggestions })];
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
      rowKey={({ name }) => name}
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
    { title: c.zone, cell: ({ timezone }) => timezone },
    { title: c.priority, numeric: true, cell: ({ priority }) => number(priority) },
    { title: c.changed, cell: ({ updatedAt }) => moment(updatedAt) },
    {
      title: c.actions,
      cell: (schedule) => (
        <span class="actions">
          <EditSchedule topic={schedule.topic} given={schedule} onSaved={refresh} />
          <DeleteButton name={schedule.name} hint={t.deleteHint} run={remove(schedule)} then={refresh} isOneOfMany />
        </span>
      ),
    },
  ];
}

const rhythm = ({ everySeconds, cron }: Schedule) =>
  everySeconds === null ? <code>{cron}</code> : texts.value.schedules.every(span(everySeconds));

const remove =
  ({ topic, name }: Schedule) =>
  () =>
    data(api.DELETE('/v1/topics/{topic}/schedules/{name}', { params: { path: { topic, name } } }));
