import { useLocation } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { among, Filters } from '../../components/form/filters.tsx';
import { type LeafSpec, picked } from '../../components/form/spec.ts';
import { moment, number, span } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { taskPath } from '../../links.ts';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';
import { Tabs } from './tabs.tsx';

type Task = Schemas['Task'];

const filterFields = ({ tasks: t, items }: Texts): LeafSpec[] => [
  { kind: 'text', name: 'executor', said: [t.executor, t.executorHint], empty: 'omit' },
  { kind: 'moment', name: 'from', said: [t.from, t.fromHint], empty: 'omit' },
  { kind: 'moment', name: 'to', said: [t.to, t.toHint], empty: 'omit' },
  among('state', items.fields.state, picked(['active', 'deleted'], items.states)),
  { kind: 'flag', name: 'ownOnly', said: [t.ownOnly, ''], initial: false, proposed: true },
];

/** Tasks that have to do with a time, of all or of a user or group. */
export function Tasks() {
  const t = texts.value;
  const { query } = useLocation();
  const add = mayAct('producer') && (
    <a class="button primary" href="/tasks/new">
      {t.pages.newTask}
    </a>
  );
  return (
    <Page title={t.pages.tasks} actions={add}>
      <Tabs />
      <Filters key={JSON.stringify(query)} path="/tasks" fields={filterFields(t)} />
      <Found query={query} />
    </Page>
  );
}

function Found({ query: { executor, from, to, state, ownOnly } }: { query: Record<string, string> }) {
  const t = texts.value;
  const include = ownOnly ? ('own' as const) : undefined;
  const asked = {
    executor,
    from,
    to,
    include,
    state: state === 'deleted' ? ('deleted' as const) : ('active' as const),
  };
  const list = useList('/v1/tasks', { query: asked }, ({ kind }) => kind === 'task' || kind === 'rotation');
  return <Listing title={t.pages.tasks} list={list} columns={columns()} empty={t.tasks.none} />;
}

function columns(): Column<Task>[] {
  const { tasks: t, items } = texts.value;
  return [
    { title: items.kinds.task, cell: ({ id }) => <a href={taskPath(id)}>{id}</a> },
    { title: t.columns.rhythm, cell: rhythm },
    { title: items.fields.executor, cell: ({ executor }) => executor },
    { title: t.form.templateId[0], cell: ({ templateId }) => templateId },
    { title: t.form.startTime[0], cell: ({ startTime }) => moment(startTime) },
    { title: t.columns.times, numeric: true, cell: ({ dispatchTimes }) => number(dispatchTimes) },
  ];
}

function rhythm({ everyMinutes, dailyTime, everyDays, timezone }: Task): string {
  const t = texts.value.tasks;
  if (everyMinutes !== null) return t.everyMinutes(span(everyMinutes * 60));
  if (dailyTime === null) return t.form.types.once;
  return everyDays === 1 ? t.daily(dailyTime, timezone) : t.everyDays(number(everyDays), dailyTime, timezone);
}
