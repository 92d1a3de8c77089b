import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { moment } from '../../components/format.ts';
import { type Column, Listing } from '../../components/table.tsx';
import { itemPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { isAbout } from './sources.ts';

type Line = Schemas['DispatchLine'];

/** Who was given a task, who completed it and who gave it back. */
export function DispatchLog({ taskId }: { taskId: string }) {
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
