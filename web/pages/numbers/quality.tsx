import { useState } from 'preact/hooks';
import { get, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useResource } from '../../api/resource.ts';
import { Badge } from '../../components/badge.tsx';
import { number, percent, spent } from '../../components/format.ts';
import { Facts, Loaded, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { DownloadCsv } from '../lists/views.tsx';
import { count, ticketsOf } from './people.tsx';
import { beginOf } from './wanted.ts';
import { type OfQueue, overTime } from './ways.tsx';

type Figures = Schemas['Quality'];
type Row = Figures['items'][number];

/** How well the people and models of a queue decide, by what second looks and gold found. */
export const Quality = overTime('quality', ({ queue, range }: OfQueue) => {
  const { numbers: n, pages } = texts.value;
  const t = n.quality;
  const [time] = useState(() => beginOf(range, serverNow()));
  const path = { queue };
  const found = useResource(
    (signal) =>
      Promise.all([
        get('/v1/queues/{queue}/quality', { path, query: time }, signal),
        get('/v1/queues/{queue}', { path }, signal),
      ]),
    [],
  );
  const download = <DownloadCsv of={`/v1/queues/${encodeURIComponent(queue)}/quality.csv`} filter={time} />;
  return (
    <Loaded of={found}>
      {([{ items, retiredGold }, settings]) => (
        <>
          <Section title={pages.quality} actions={download}>
            <p class="inset muted">{items.some(({ looked }) => looked > 0) ? t.lead : items.length > 0 && t.noLooks}</p>
            <Table
              caption={pages.quality}
              columns={columns(queue, items)}
              rows={items}
              rowKey={({ reviewer, model }) => `${reviewer} ${model}`}
              empty={t.none}
            />
          </Section>
          <Checks retired={retiredGold} settings={settings} />
        </>
      )}
    </Loaded>
  );
});

function columns(queue: string, all: Row[]): (Column<Row> | false)[] {
  const { columns: c, quality: t, of } = texts.value.numbers;
  const hasGold = all.some(({ gold }) => gold.judged + gold.skipped > 0);
  return [
    { title: texts.value.lists.reviewer, cell: (row) => <Who queue={queue} of={row} /> },
    { title: c.decisions, numeric: true, cell: (row) => count(row.decided) },
    ...(['looked', 'upheld'] as const).map(
      (id): Column<Row> => ({ title: t.columns[id], numeric: true, cell: (row) => count(row[id]) }),
    ),
    {
      ...{ title: t.columns.overturned, numeric: true },
      cell: (row) =>
        row.overturned === 0 ? (
          count(0)
        ) : (
          <a href={ticketsOf(queue, nameOf(row), { overturned: 'true' })}>{number(row.overturned)}</a>
        ),
    },
    { title: t.columns.rate, cell: ({ overturnRate }) => <Interval {...overturnRate} /> },
    hasGold && {
      ...{ title: c.gold, numeric: true },
      cell: ({ gold: { judged, right } }) => (judged === 0 ? '–' : of(number(right), number(judged))),
    },
    hasGold && { title: c.skips, numeric: true, cell: ({ gold }) => count(gold.skipped) },
    {
      ...{ title: t.columns.kappa, numeric: true },
      cell: ({ kappa, n }) => (kappa === null ? '–' : `${number(kappa, 2)} (n = ${number(n)})`),
    },
    { title: c.median, numeric: true, cell: ({ secondsMedian }) => spent(secondsMedian) },
  ];
}

const nameOf = ({ reviewer, model }: Row) => reviewer ?? `model:${model}`;

function Who({ queue, of }: { queue: string; of: Row }) {
  const { reviewer, model } = of;
  return (
    <>
      <a href={ticketsOf(queue, nameOf(of))}>{reviewer ?? model}</a>{' '}
      {model !== undefined && <Badge>{texts.value.numbers.quality.model}</Badge>}
    </>
  );
}

/** A share on a scale from none to all with the interval in which it is, and the same in figures. */
function Interval({ value, low, high }: Row['overturnRate']) {
  if (value === null) return <>–</>;
  const [from, at, to] = [low, value, high].map((share) => `${share * 100}%`);
  const drawn = `var(--sunken) ${from}, var(--muted) 0 ${at}, var(--accent) 0 calc(${at} + 3px), var(--muted) 0 ${to}, var(--sunken) 0`;
  return (
    <span class="numbers-interval">
      <span class="numbers-bar" style={{ background: `linear-gradient(to right, ${drawn})` }} aria-hidden="true" />
      {percent(value)} ({percent(low)} – {percent(high)})
    </span>
  );
}

/** What is drawn for checks, and which gold is in doubt. */
function Checks({ retired, settings }: { retired: Figures['retiredGold']; settings: Schemas['Queue'] }) {
  const { quality: t, of: part } = texts.value.numbers;
  const { share = 0, adapt, of = 'people' } = settings.second ?? {};
  const drawn = adapt ? `${percent(adapt.min)} – ${percent(adapt.max)}` : percent(share);
  const doubts = retired.map(({ id, judged, right, disputed }) =>
    t.doubt(id, part(number(right), number(judged)), number(disputed)),
  );
  return (
    <Section title={t.checks}>
      <Facts
        facts={[
          [t.drawn, `${drawn} ${t.of[of]}`],
          [t.gold, percent(settings.gold?.share ?? 0)],
          doubts.length > 0 && [t.doubtful, doubts.join('; ')],
        ]}
      />
    </Section>
  );
}
