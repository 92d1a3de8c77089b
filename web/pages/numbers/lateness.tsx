import type { Schemas } from '../../api/client.ts';
import { exactDuration, number, percent, spent } from '../../components/format.ts';
import { Empty, Facts, Loaded, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { Covered, useFigures } from './covered.tsx';
import type { Wanted } from './wanted.ts';

type Bucket = Schemas['LatenessBucket'];

interface Props {
  wanted: Wanted & { kind: 'ticket' | 'job' };
  /** Another one: what has been answered is old. */
  sign: string | null;
}

/** How long after items became available they were handed out: a histogram. */
export function Lateness({ wanted, sign }: Props) {
  const t = texts.value.numbers;
  const lateness = useFigures('/v1/figures/lateness', wanted, sign);
  return (
    <Section title={t.lateness.title}>
      <Loaded of={lateness}>
        {({ handedOut, p50, p99, max, buckets, ...covered }) => (
          <>
            <p class="inset muted">{t.lateness.lead}</p>
            <Covered {...covered} />
            {handedOut === 0 ? (
              <Empty>{t.lateness.none}</Empty>
            ) : (
              <>
                <Facts
                  facts={[
                    [t.lines.handedOut ?? '', number(handedOut)],
                    [t.lateness.p50, spent(p50)],
                    [t.lateness.p99, spent(p99)],
                    [t.lateness.max, spent(max)],
                  ]}
                />
                <Histogram buckets={buckets} total={handedOut} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Histogram({ buckets, total }: { buckets: Bucket[]; total: number }) {
  const { lateness: t } = texts.value.numbers;
  const most = Math.max(...buckets.map(({ count }) => count));
  const columns: Column<Bucket>[] = [
    { title: t.bucket, cell: nameOf },
    { title: t.count, numeric: true, cell: ({ count }) => number(count) },
    {
      title: t.share,
      cell: ({ count }) => (
        <span class="numbers-share">
          <span class="numbers-bar" style={{ width: `${(count / most) * 100}%` }} />
          <span>{percent(count / total)}</span>
        </span>
      ),
    },
  ];
  const shown = buckets.filter(({ count }) => count > 0);
  return (
    <div class="numbers-histogram">
      <Table caption={t.title} columns={columns} rows={shown} rowKey={({ fromSeconds }) => String(fromSeconds)} />
    </div>
  );
}

function nameOf({ fromSeconds, toSeconds }: Bucket): string {
  if (fromSeconds === 0 && toSeconds !== null) return `< ${exactDuration(toSeconds)}`;
  if (toSeconds === null) return `≥ ${exactDuration(fromSeconds)}`;
  return `${exactDuration(fromSeconds)} – ${exactDuration(toSeconds)}`;
}
