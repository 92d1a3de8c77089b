import { api, data, get, type Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { State } from '../../components/badge.tsx';
import { moment, number, span } from '../../components/format.ts';
import { type Fact, linked } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { itemPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { ItemView, JsonSection } from './item-view.tsx';
import { isAbout, loadOccurrence, partsOf } from './sources.ts';

type Task = Schemas['Task'];

/** A task that clients pull: its settings, its parameters, and what was dispatched of it. */
export function TaskParts({ id }: { id: string }) {
  return (
    <ItemView
      {...{ kind: 'task', id }}
      load={(signal) => get('/v1/tasks/{id}', { path: { id } }, signal)}
      facts={factsOf}
      actions={({ state }, refresh) => state === 'active' && mayAct('producer') && <Delete id={id} refresh={refresh} />}
    >
      {({ params }) => (
        <>
          <JsonSection title={texts.value.items.params} value={params} />
          <DispatchLog taskId={id} />
        </>
      )}
    </ItemView>
  );
}

const receiver = (callback: NonNullable<Schemas['Task']['callback']>) =>
  'url' in callback ? callback.url : `${callback.temporal.workflowId} (${callback.temporal.signal})`;

function factsOf(task: Task): Fact[] {
  const { fields: f, rhythm } = texts.value.items;
  const { everyMinutes, dailyTime, everyDays, timezone } = task;
  return [
    [f.state, <State key="state" state={task.state} />],
    [f.executor, task.executor],
    everyMinutes !== null && [f.rhythm, rhythm.minutes(everyMinutes)],
    dailyTime !== null && [f.rhythm, rhythm.days(everyDays, dailyTime, timezone)],
    task.type === 'once' && [f.rhythm, rhythm.once],
    [f.startTime, <When key="start" at={task.startTime} />],
    task.endTime !== null && [f.endTime, <When key="end" at={task.endTime} />],
    [f.dispatchTimes, number(task.dispatchTimes)],
    [f.lookback, span(task.lookbackSeconds)],
    task.answerSeconds !== null && [f.answer, span(task.answerSeconds)],
    [f.template, task.templateId],
    task.callback !== null && [f.callback, <code key="callback">{receiver(task.callback)}</code>],
    [f.createdAt, <When key="created" at={task.createdAt} />],
  ];
}

function Delete({ id, refresh }: { id: string; refresh: () => void }) {
  const t = texts.value.items.actions;
  const run = async () => {
    await data(api.DELETE('/v1/tasks/{id}', { params: { path: { id } } }));
    refresh();
  };
  return <Action {...t.deleteTask} will={t.deleteTaskWill} danger run={run} />;
}

/** One occurrence of a task: how much of it was dispatched and completed. */
export function OccurrenceParts({ id }: { id: string }) {
  const t = texts.value.items;
  const f = t.fields;
  return (
    <ItemView
      {...{ kind: 'occurrence', id }}
      load={(signal) => loadOccurrence(id, signal)}
      facts={({ task, found }) => [
        !found && [f.occurrence, t.noOccurrence(partsOf(id).occurrence)],
        found && [f.state, <State key="state" state={found.state} />],
        linked(f.task, itemPath('task', task.id), task.id),
        [f.executor, task.executor],
        found && [f.occurrence, <When key="at" at={found.occurrence} />],
        found && [f.stock, number(found.stock)],
        found && [f.dispatched, number(found.dispatched)],
        found && [f.completed, number(found.completed)],
      ]}
    >
      {({ task }) => <JsonSection title={t.params} value={task.params} />}
    </ItemView>
  );
}

type Line = Schemas['DispatchLine'];

/** Who was given a task, who completed it and who gave it back. */
function DispatchLog({ taskId }: { taskId: string }) {
  const { items, pages, taskLists: t } = texts.value;
  const log = useList('/v1/dispatch-log', { query: { taskId } }, isAbout('task', taskId));
  const columns: Column<Line>[] = [
    { title: t.uid, cell: ({ uid }) => uid },
    { title: t.what, cell: ({ type }) => items.events[type] ?? type },
    {
      title: items.fields.occurrence,
      cell: ({ occurrence }) => <a href={itemPath('occurrence', `${taskId}/${occurrence}`)}>{moment(occurrence)}</a>,
    },
    { title: t.result, cell: ({ result }) => <bdi>{shortly(result)}</bdi> },
    { title: t.at, numeric: true, cell: ({ at }) => moment(at) },
  ];
  return (
    <Listing
      title={pages.dispatchLog}
      list={log}
      columns={columns}
      rowKey={({ logId, type }) => `${logId} ${type}`}
      empty={t.noneYet}
    />
  );
}

const LETTERS = 80;

function shortly(value: unknown): string {
  if (value === null || value === undefined) return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LETTERS ? `${text.slice(0, LETTERS)}…` : text;
}
