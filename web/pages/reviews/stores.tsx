import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import type { LiveEvent } from '../../api/live.ts';
import { useGet } from '../../api/resource.ts';
import { Badge } from '../../components/badge.tsx';
import { moment, number } from '../../components/format.ts';
import { Loaded, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';

/** Of a review's targets, of which there may be 10,000. */
const ROWS = 100;

/** Each target with its status in the review's record, its index row and its base row, side by side. */
export function Stores({ id, on }: { id: string; on: (event: LiveEvent) => boolean }) {
  const t = texts.value.reviews;
  const [shown, setShown] = useState(ROWS);
  const stores = useGet('/v1/reviews/{id}/stores', { path: { id } }, { on });
  const step = stores.data && (
    <Badge tone={stores.data.inStep ? 'good' : 'bad'}>{stores.data.inStep ? t.inStep : t.outOfStep}</Badge>
  );
  return (
    <Section title={t.stores} actions={step}>
      <Loaded of={stores}>
        {(all) => {
          const rows = compare(all);
          const more = rows.length > shown ? () => setShown(shown + 10 * ROWS) : undefined;
          return (
            <Table
              caption={t.stores}
              columns={columns()}
              rows={rows.slice(0, shown)}
              rowKey={({ key }) => key}
              more={more}
            />
          );
        }}
      </Loaded>
    </Section>
  );
}

function columns(): Column<Compared>[] {
  const t = texts.value.reviews;
  return [
    {
      title: t.columns.target,
      cell: ({ kind, targetId, differs }) => (
        <>
          {t.targets[kind]} {targetId !== null && <bdi>{targetId}</bdi>}{' '}
          {differs && <Badge tone="bad">{t.differs}</Badge>}
        </>
      ),
    },
    { title: t.record, cell: ({ record }) => <Value value={record} /> },
    { title: t.index, cell: ({ index }) => <Value value={index} /> },
    { title: t.base, cell: ({ base }) => <Value value={base} /> },
  ];
}

function Value({ value }: { value: Compared['record'] }) {
  if (value === undefined) return <span class="muted">–</span>;
  // a version among them, which is written without separators everywhere
  if (typeof value === 'number') return <>{String(value)}</>;
  return (
    <>
      <strong>{number(value.status)}</strong>
      {value.auditTime !== null && <span class="muted reviews-time"> {moment(value.auditTime)}</span>}
    </>
  );
}

/** What a store says about one target. */
interface Said {
  status: number;
  auditTime: string | null;
}

/** A line of the comparison: one target or one figure, as each store has it; undefined: the store does not keep it. */
interface Compared {
  key: string;
  kind: 'text' | 'picture' | 'reply' | 'pictures' | 'replies' | 'version';
  targetId: string | null;
  record: Said | number | undefined;
  index: Said | number | undefined;
  base: number | undefined;
  differs: boolean;
}

interface Target extends Said {
  id: string;
}

interface IndexRow extends Said {
  kind: Compared['kind'];
  targetId: string | null;
}

/** The three stores as tables of the same targets. What differs comes first. */
function compare({ record, index, base }: Schemas['ReviewStores']): Compared[] {
  const rows = index as unknown as IndexRow[];
  const text = record.text as Said;
  const [pictures, replies] = [record.pictures as Target[], record.replies as Target[]];
  const figures = base as { status?: number; pictures?: number; replies?: number; version?: number };
  const inIndex = new Map(rows.map((row) => [`${row.kind} ${row.targetId ?? ''}`, row]));
  const target = (kind: 'text' | 'picture' | 'reply', targetId: string | null, said: Said | undefined): Compared => {
    const found = inIndex.get(`${kind} ${targetId ?? ''}`);
    const isText = kind === 'text';
    const differs = !isSame(said, found) || (isText && figures.status !== said?.status);
    return {
      ...{ key: `${kind} ${targetId ?? ''}`, kind, targetId, record: said, index: found, differs },
      base: isText ? figures.status : undefined,
    };
  };
  const count = (kind: 'pictures' | 'replies', of: 'picture' | 'reply', n: number): Compared => {
    const indexed = rows.filter((row) => row.kind === of).length;
    const differs = n !== indexed || n !== figures[kind];
    return { key: kind, kind, targetId: null, record: n, index: indexed, base: figures[kind], differs };
  };
  const known = new Set(['text ', ...pictures.map((p) => `picture ${p.id}`), ...replies.map((r) => `reply ${r.id}`)]);
  const only = rows.filter((row) => !known.has(`${row.kind} ${row.targetId ?? ''}`));
  const version = Number(record.version);
  const all = [
    target('text', null, text),
    ...pictures.map((p) => target('picture', p.id, p)),
    ...replies.map((r) => target('reply', r.id, r)),
    ...only.map((row) => target(row.kind as 'picture' | 'reply', row.targetId, undefined)),
    count('pictures', 'picture', pictures.length),
    count('replies', 'reply', replies.length),
    {
      ...{ key: 'version', kind: 'version' as const, targetId: null, record: version, index: undefined },
      ...{ base: figures.version, differs: version !== figures.version },
    },
  ];
  return all.sort((a, b) => Number(b.differs) - Number(a.differs));
}

const isSame = (a: Said | undefined, b: Said | undefined) => a?.status === b?.status && a?.auditTime === b?.auditTime;
