import { number } from '../../components/format.ts';
import { Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import type { Foreseen } from './settings-of.ts';

/** What a dry run has found, or a save has warned of. */
export function Forecast({ of }: { of: Foreseen }) {
  const t = texts.value.settings;
  return (
    <div role="status">
      {'warnings' in of &&
        of.warnings.map((warning) => (
          <p key={warning} class="note warn">
            {warning}
          </p>
        ))}
      {'total' in of && (
        <Section title={t.dryRun}>
          <Moved of={of} />
        </Section>
      )}
      {'inUse' in of && (
        <Section title={t.dryRun}>
          <Judged of={of} />
        </Section>
      )}
    </div>
  );
}

type Moving = Extract<Foreseen, { wouldMove: unknown }>;

function Moved({ of: { total, wouldMove } }: { of: Moving }) {
  const t = texts.value.settings;
  const columns: Column<Moving['wouldMove'][number]>[] = [
    { title: texts.value.items.kinds.ticket, cell: ({ id }) => id },
    { title: t.before, numeric: true, cell: ({ before }) => number(before) },
    { title: t.after, numeric: true, cell: ({ after }) => number(after) },
    { title: t.requiresThen, cell: ({ requires }) => requires && (requires.after.join(', ') || '–') },
  ];
  return (
    <>
      <p class="form-body">
        {total === 0 ? t.wouldMoveNone : t.wouldMove(number(total))} {total > wouldMove.length && t.firstHundred}
      </p>
      {total > 0 && <Table caption={t.dryRun} columns={columns} rows={wouldMove} rowKey={({ id }) => id} />}
    </>
  );
}

function Judged({ of: { wouldDecide, wouldHang, leavesOpen, inUse } }: { of: Extract<Foreseen, { inUse: unknown }> }) {
  const t = texts.value.settings;
  if (inUse.length > 0) return <Cases said={t.inUse(number(inUse.length))} ids={inUse} />;
  const longer = leavesOpen.map(({ id }) => id);
  return (
    <>
      {wouldDecide.length === 0 && <p class="form-body">{t.wouldDecideNone}</p>}
      {wouldDecide.length > 0 && <Cases said={t.wouldDecide(number(wouldDecide.length))} ids={wouldDecide} />}
      {wouldHang.length > 0 && <Cases said={t.wouldHang(number(wouldHang.length))} ids={wouldHang} />}
      {longer.length > 0 && <Cases said={t.leavesOpen(number(longer.length))} ids={longer} />}
    </>
  );
}

function Cases({ said, ids }: { said: string; ids: string[] }) {
  return (
    <div class="form-body">
      <p>{said}</p>
      <p class="row">
        {ids.map((id) => (
          <code key={id}>{id}</code>
        ))}
      </p>
    </div>
  );
}
