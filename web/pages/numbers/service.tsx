import { get, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useResource } from '../../api/resource.ts';
import { exactDuration, number, percent, span } from '../../components/format.ts';
import { Empty, Facts, Loaded, Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { DrawnChart } from './chart.tsx';
import type { Drawn, Line } from './charts.ts';
import { Now } from './now.tsx';
import { beginOf } from './wanted.ts';
import { type OfQueue, overTime } from './ways.tsx';

type Figures = Schemas['Service'];
const HOUR = 3_600;
const CHART = { id: 'service', unit: 'count', perStep: true, candidates: [] } as const;

/** How soon the tickets of a queue are decided, beside its target. */
export const Service = overTime('service', ({ queue, range }: OfQueue) => {
  const t = texts.value.numbers.service;
  const found = useResource((signal) => {
    const params = { path: { queue }, query: beginOf(range, serverNow()) };
    return get('/v1/queues/{queue}/service', params, signal);
  }, []);
  return (
    <Loaded of={found}>
      {(service) => (
        <>
          <Section title={texts.value.pages.service}>
            {service.target === null && <p class="inset">{t.noTarget}</p>}
            {service.tickets === 0 ? <Empty>{t.none}</Empty> : <Sums of={service} />}
          </Section>
          <Now queue={queue} />
          {service.tickets > 0 && <DrawnChart chart={CHART} drawn={drawnOf(service)} stepSeconds={HOUR} />}
        </>
      )}
    </Loaded>
  );
});

function Sums({ of: { target, tickets, kept, missed, overdue, ...clocks } }: { of: Figures }) {
  const { numbers, queueSettings, items } = texts.value;
  const t = numbers.service;
  const within = ({ p50, p95, p99 }: Schemas['Percentiles']) =>
    t.within(exactDuration(p50 ?? 0), exactDuration(p95 ?? 0), exactDuration(p99 ?? 0));
  return (
    <Facts
      facts={[
        target !== null && [queueSettings.serviceSeconds[0], span(target)],
        kept !== null && [numbers.lines.kept ?? '', `${number(kept)} (${percent(kept / tickets)})`],
        missed !== null && [numbers.lines.missed ?? '', number(missed)],
        target !== null && [t.overdue, number(overdue)],
        [t.firstClaim, within(clocks.firstClaim)],
        [t.lastClaim, within(clocks.lastClaim)],
        [items.fields.decidedAt, within(clocks.decided)],
      ]}
    />
  );
}

const line = (name: 'tickets' | 'kept' | 'missed', ink: Line['look']['ink'], dash: number[] = []) => ({
  ...{ name, look: { ink, dash } },
});
const PLAIN = [line('tickets', '--accent')];
const BESIDE_TARGET = [line('kept', '--good'), line('missed', '--bad', [8, 4])];

/** Hours that the answer leaves out had no decision. */
function drawnOf({ from, to, target, byHour }: Figures): Drawn {
  const begin = Math.floor(Date.parse(from) / 1_000 / HOUR) * HOUR;
  const hours = Math.max(1, Math.ceil((Date.parse(to) / 1_000 - begin) / HOUR));
  const times = Array.from({ length: hours }, (_, n) => begin + (n + 1) * HOUR);
  const found = new Map(byHour.map((one) => [Date.parse(one.hour) / 1_000 + HOUR, one]));
  const lines = target === null ? PLAIN : BESIDE_TARGET;
  const values = lines.map(({ name }) => times.map((time) => found.get(time)?.[name] ?? 0));
  return { lines, values, times, from: begin, newest: hours - 1 };
}
