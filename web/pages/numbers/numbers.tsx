import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { get } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { readPages, useResource } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { picked } from '../../components/form/spec.ts';
import { Empty, Loaded, Page, Refresh } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { DrawnChart, EmptyCharts } from './chart.tsx';
import { chartsIn, type Figures, lastChange } from './charts.ts';
import { Lateness } from './lateness.tsx';
import './numbers.css';
import { among, Filters, word } from '../../components/form/filters.tsx';
import { People } from './people.tsx';
import { DEFAULTS, type FigureKind, KINDS, RANGES, timeOf, type Wanted, wantedIn } from './wanted.ts';
import { Ways } from './ways.tsx';

/** What a queue, topic, court or group had and did over time, who worked on it, and how late it was handed out. */
export function Numbers() {
  const t = texts.value;
  const { query } = useLocation();
  const [asked, setAsked] = useState(0);
  const wanted = wantedIn(query);
  const answer = useResource((signal) => namesOf(wanted.kind, signal), [wanted.kind]);
  const names = answer.data ?? [];
  // a key that is for some queues may not see all of them together
  const isBound = session.value?.queues !== null;
  const queue = wanted.queue || (isBound ? (names[0] ?? '') : '');
  const shown = { ...wanted, queue };
  return (
    <Page
      title={t.pages.numbers}
      actions={
        <>
          {queue !== '' && <Ways kind={wanted.kind} queue={queue} at="numbers" />}
          <Refresh run={() => setAsked((n) => n + 1)} />
        </>
      }
    >
      <Choice wanted={shown} names={names} />
      {isBound && queue === '' ? (
        <Loaded of={answer}>{() => <Empty>{t.numbers.noneOfYours}</Empty>}</Loaded>
      ) : (
        <Shown key={JSON.stringify(shown)} wanted={shown} asked={asked} />
      )}
    </Page>
  );
}

const MINUTE_MS = 60_000;
const MOST_NAMES = 200;

/** The newest queues, topics, courts or groups that the session sees, by what their figures are asked for. */
async function namesOf(kind: FigureKind, signal: AbortSignal): Promise<string[]> {
  const read = async (cursor: string | undefined) => {
    const query = { kind, limit: MOST_NAMES, cursor };
    const { queues, topics, courts, groups } = await get('/v1/overview', { query }, signal);
    return queues ?? topics ?? courts ?? groups ?? { items: [], nextCursor: null };
  };
  const { items } = await readPages<{ name: string }>(read, 1);
  return items.map(({ name }) => (kind === 'task' ? `gid_${name}` : name));
}

/** @param asked changes when someone wants newer figures */
function Shown({ wanted, asked }: { wanted: Wanted; asked: number }) {
  const { kind, queue, range } = wanted;
  const figures = useResource(
    (signal) => {
      const query = { kind, ...timeOf(range, serverNow()), queue: queue || undefined };
      return get('/v1/figures', { query }, signal);
    },
    [asked],
    { everyMs: MINUTE_MS, about: wanted },
  );
  const sign = figures.data ? `${asked} ${lastChange(kind, figures.data)}` : null;
  // it would be said again below
  const isRefused = figures.error !== null && figures.data === undefined;
  return (
    <>
      <Loaded of={figures}>{(known) => <Charts kind={kind} figures={known} />}</Loaded>
      {!isRefused && (kind === 'ticket' || kind === 'job') && <Lateness wanted={{ ...wanted, kind }} sign={sign} />}
      {!isRefused && (kind === 'ticket' || kind === 'case') && <People wanted={{ ...wanted, kind }} sign={sign} />}
    </>
  );
}

function Charts({ kind, figures }: { kind: FigureKind; figures: Figures }) {
  const { drawn, empty } = chartsIn(kind, figures);
  return (
    <>
      {drawn.map((one) => (
        <DrawnChart key={one.chart.id} {...one} stepSeconds={figures.stepSeconds} />
      ))}
      <EmptyCharts empty={empty} kind={kind} figures={figures} />
    </>
  );
}

interface Props {
  wanted: Wanted;
  /** Queues to choose from; another one may be typed. */
  names: string[];
}

/** What the figures are of. It stands in the address, so that it can be kept and sent to someone. */
function Choice({ wanted, names }: Props) {
  const t = texts.value.numbers;
  const { kinds } = texts.value.deliveries;
  return (
    <Filters
      key={JSON.stringify(wanted)}
      path="/numbers"
      fields={[
        among('kind', texts.value.lists.kind, picked(KINDS, kinds)),
        among('range', t.range, picked(Object.keys(RANGES), t.ranges)),
        word('queue', t.queueOf[wanted.kind], { hint: t.all[wanted.kind], suggestions: names }),
      ]}
      given={{ ...wanted }}
      defaults={DEFAULTS}
      atOnce={{ kind: ['range'], range: ['kind', 'queue'] }}
    />
  );
}
