import { useResource } from '../../api/resource.ts';
import { Empty, Loaded } from '../../components/feedback.tsx';
import { moment, number } from '../../components/format.ts';
import { State } from '../../components/state.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { itemPath, type ListKind, queuePath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { type Filter, withFilter } from './filters.ts';
import { loadRows, type Row } from './rows.ts';

interface Props {
  kind: ListKind;
  filter: Filter;
  /** The address of the list without its filter. */
  base: string;
  /** Shown once at the top of the list instead of in each line. */
  fixedQueue?: boolean;
}

/** Of a busy queue, lists follow by the second. */
const GAP_MS = 1_000;

/** One page of tickets, jobs or cases, newest first, as it changes. */
export function ItemList({ kind, filter, base, fixedQueue = false }: Props) {
  const t = texts.value.lists;
  const { cursor, ...rest } = filter;
  const of = JSON.stringify([kind, rest]);
  const load = async (signal: AbortSignal) => ({ of, ...(await loadRows(kind, filter, signal)) });
  const rows = useResource(load, [of, cursor], { on: (event) => event.kind === kind, gapMs: GAP_MS, keep: true });
  // another page of the same list stays until the new one is there
  const found = { ...rows, data: rows.data?.of === of ? rows.data : undefined };
  const link = (to: string | undefined) =>
    withFilter(base, { ...(fixedQueue ? {} : { kind }), ...without(rest, fixedQueue), ...(to && { cursor: to }) });
  return (
    <Loaded of={found}>
      {({ items, nextCursor }) => (
        <>
          {items.length === 0 ? (
            <Empty>{kind === 'job' && !filter.queue ? t.nameTopic : t.none}</Empty>
          ) : (
            <Table caption={t.kinds[kind]} columns={columnsOf(kind, fixedQueue)} rows={items} rowKey={({ id }) => id} />
          )}
          {(cursor || nextCursor) && (
            <nav class="list-pages" aria-label={t.pages}>
              {cursor ? <a href={link(undefined)}>{t.newest}</a> : <span />}
              {nextCursor && <a href={link(nextCursor)}>{t.older}</a>}
            </nav>
          )}
        </>
      )}
    </Loaded>
  );
}

function without({ queue, ...rest }: Filter, fixedQueue: boolean): Filter {
  return fixedQueue || !queue ? rest : { queue, ...rest };
}

function columnsOf(kind: ListKind, fixedQueue: boolean): Column<Row>[] {
  const t = texts.value.lists;
  const { fields: f } = texts.value.items;
  const columns: (Column<Row> | false)[] = [
    { id: 'id', title: t.id, cell: ({ id }) => <a href={itemPath(kind, id)}>{id}</a> },
    { id: 'state', title: f.state, cell: ({ state }) => <State state={state} /> },
    !fixedQueue && {
      id: 'queue',
      title: t.queueOf[kind],
      cell: ({ queue }) => <a href={queuePath(kind, queue)}>{queue}</a>,
    },
    kind === 'ticket' && { id: 'who', title: t.person, cell: ({ who }) => <bdi>{who ?? '–'}</bdi> },
    kind === 'case' && { id: 'who', title: f.winner, cell: ({ who }) => who ?? '–' },
    {
      id: 'figure',
      title: kind === 'case' ? f.votesLeft : f.priority,
      numeric: true,
      cell: ({ figure }) => number(figure),
    },
    { id: 'created', title: f.createdAt, numeric: true, cell: ({ createdAt }) => moment(createdAt) },
  ];
  return columns.filter((column) => column !== false);
}
