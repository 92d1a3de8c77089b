import { get, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useResource } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { duration, number, spent } from '../../components/format.ts';
import { type Fact, Facts, Loaded, Loading, Page, Refresh, Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { type Alert, alertsOf } from './alerts.ts';
import './home.css';
import { Entries, Linked, useEntries } from './entries.tsx';

/** Alerts that are not folded away. */
const SHOWN = 8;
/** What no event tells: an engine that is away, an item that waits on. It is dear to answer, and many leave this page open. */
const ATTENTION_MS = 60_000;
const ATTENTION_GAP_MS = 10_000;
const WAITS_MS = 300_000;

/**
 * What is going on, and what needs someone. While nothing happens it asks for little, so that many people may leave it open.
 * A key that is bound to queues may not see the whole system, so it gets its queues only.
 */
export function Home() {
  const t = texts.value;
  const isBound = session.value?.queues !== null;
  const attention = useResource(async (signal) => (isBound ? null : await get('/v1/attention', {}, signal)), [], {
    on: () => !isBound,
    everyMs: ATTENTION_MS,
    gapMs: ATTENTION_GAP_MS,
  });
  const waits = useResource(async (signal) => (isBound ? null : await waitsUntilClaimed(signal)), [], {
    everyMs: WAITS_MS,
  });
  const lists = [useEntries('ticket'), useEntries('job'), useEntries('case'), useEntries('task')] as const;
  const refresh = () => {
    for (const part of [attention, waits, ...lists.map(({ list }) => list)]) part.refresh();
  };
  return (
    <Page title={t.pages.home} actions={<Refresh run={refresh} />}>
      {!isBound && (
        <>
          <Section title={t.home.attention}>
            <Loaded of={attention}>{(seen) => seen && <Alerts alerts={alertsOf(seen, t)} />}</Loaded>
          </Section>
          <Section title={t.home.system}>
            {attention.data ? <System seen={attention.data} p99={waits.data?.p99 ?? null} /> : <Loading />}
          </Section>
        </>
      )}
      {lists.map((one) => (
        <Entries key={one.kind} {...one} />
      ))}
    </Page>
  );
}

/** Of the last minutes; it reads all that happened in them. */
function waitsUntilClaimed(signal: AbortSignal): Promise<Schemas['Lateness']> {
  const from = new Date(serverNow() - WAITS_MS).toISOString();
  return get('/v1/figures/lateness', { query: { kind: 'ticket', from } }, signal);
}

function Alerts({ alerts }: { alerts: Alert[] }) {
  const t = texts.value.home;
  if (alerts.length === 0) return <p class="empty good">{t.allGood}</p>;
  return (
    <>
      <AlertList alerts={alerts.slice(0, SHOWN)} />
      {alerts.length > SHOWN && (
        <details>
          <summary class="bar">{t.moreAlerts(alerts.length - SHOWN)}</summary>
          <AlertList alerts={alerts.slice(SHOWN)} />
        </details>
      )}
    </>
  );
}

function AlertList({ alerts }: { alerts: Alert[] }) {
  return (
    <ul class="alerts plain">
      {alerts.map(({ tone, queue, text, links }) => (
        <li key={`${queue?.path} ${text}`} class={`bar ${tone}`}>
          {queue && (
            <>
              <Linked {...queue} />:{' '}
            </>
          )}
          {text}
          {links.flatMap((link) => [' ', <Linked key={link.path} {...link} />])}
        </li>
      ))}
    </ul>
  );
}

function System({ seen, p99 }: { seen: Schemas['Attention']; p99: number | null }) {
  const { engines: t, words, columns } = texts.value.home;
  const { engines, oldestPendingDeliverySeconds: pending, failedDeliveries: failed, parked } = seen;
  const told = (isBad: boolean, text: string) => <span class={isBad ? 'alarming' : ''}>{text}</span>;
  const engine = (label: string, is: 'ok' | 'unreachable'): Fact => [label, told(is !== 'ok', words[is])];
  const age = (label: string, seconds: number): Fact => [label, seconds > 0 ? duration(seconds) : '–'];
  const count = (label: string, n: number): Fact => [label, told(n > 0, number(n))];
  const tiles = [
    engine(t.postgres, engines.postgres),
    engine(t.temporal, engines.temporal),
    engine(t.workers, engines.worker),
    age(t.behind, engines.unpublishedOldestSeconds),
    [t.handover, spent(p99)] as Fact,
    age(t.pending, pending),
    count(columns.failed, failed.total),
    count(t.parked, parked.total),
    count(t.overdue, seen.overdue),
  ];
  return <Facts look="tiles" facts={tiles} />;
}
