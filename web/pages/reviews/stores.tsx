import { useState } from 'preact/hooks';
import type { LiveEvent } from '../../api/live.ts';
import { useGet } from '../../api/resource.ts';
import { Badge } from '../../components/badge.tsx';
import { moment, number } from '../../components/format.ts';
import { Loaded, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { type Compared, compare } from './compare.ts';

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
