import { useLocation } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Filters } from '../../components/form/filters.tsx';
import type { LeafSpec } from '../../components/form/spec.ts';
import { moment } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { itemPath, taskPath } from '../../links.ts';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';
import { Tabs } from './tabs.tsx';

type Line = Schemas['DispatchLine'];
const PAGE = 100;
const LETTERS = 200;

const filterFields = ({ taskLists: t, tasks, items }: Texts): LeafSpec[] => [
  { kind: 'text', name: 'uid', said: [t.uid, ''], empty: 'omit' },
  { kind: 'text', name: 'taskId', said: [items.kinds.task, ''], empty: 'omit' },
  { kind: 'moment', name: 'from', said: [tasks.from, ''], empty: 'omit' },
];

/** Who was given what, by user, task and time. */
export function DispatchLog() {
  const t = texts.value;
  const { query } = useLocation();
  const { uid, taskId, from } = query;
  const asked = { limit: PAGE, uid, taskId, from };
  const list = useList('/v1/dispatch-log', { query: asked }, ({ kind }) => kind === 'task');
  return (
    <Page title={t.pages.dispatchLog}>
      <Tabs />
      <p class="muted lead">{t.taskLists.logLead}</p>
      <Filters key={JSON.stringify(query)} path="/tasks/log" fields={filterFields(t)} />
      <Listing
        title={t.pages.dispatchLog}
        list={list}
        columns={columns()}
        rowKey={({ logId, type }) => `${logId} ${type}`}
        empty={t.taskLists.noLines}
      />
    </Page>
  );
}

const TONES: Record<Line['type'], Tone> = { dispatched: 'info', completed: 'good', returned: 'warn' };

function columns(): Column<Line>[] {
  const { taskLists: t, items } = texts.value;
  const result = ({ result: it }: Line) => (typeof it === 'string' ? it : JSON.stringify(it)).slice(0, LETTERS);
  return [
    { title: items.votes.at, cell: ({ at }) => moment(at) },
    { title: t.what, cell: ({ type }) => <Badge tone={TONES[type]}>{items.events[type] ?? items.states[type]}</Badge> },
    { title: t.uid, cell: ({ uid }) => uid },
    { title: items.kinds.task, cell: ({ taskId }) => <a href={taskPath(taskId)}>{taskId}</a> },
    {
      title: t.occurrence,
      cell: ({ taskId, occurrence }) => (
        <a href={itemPath('occurrence', `${taskId}/${occurrence}`)}>{moment(occurrence)}</a>
      ),
    },
    { title: t.result, cell: (line) => <bdi>{line.result === null ? '–' : result(line)}</bdi> },
    { title: t.logId, cell: ({ logId }) => <code>{logId}</code> },
  ];
}
