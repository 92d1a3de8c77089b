import { useResource } from '../../api/resource.ts';
import { Loaded, Loading } from '../../components/feedback.tsx';
import { duration, milliseconds, number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { Page, Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { type Alert, alertsOf } from './alerts.ts';
import './home.css';
import { useCourts, useGroups, useOldest, useQueues, useTopics } from './lists.ts';
import { type Figures, loadFigures, loadReadiness, type Readiness } from './system.ts';
import { Courts, Groups, Queues, Topics } from './tables.tsx';

/** Alerts that are not folded away. */
const SHOWN = 8;
const READINESS_MS = 30_000;
const FIGURES_MS = 300_000;
const FIGURES_GAP_MS = 5_000;

/**
 * What is going on, and what needs someone. While nothing happens it asks for little, so that many people may leave it open.
 */
export function Home() {
  const t = texts.value;
  const readiness = useResource(loadReadiness, [], { everyMs: READINESS_MS });
  const figures = useResource(loadFigures, [], { on: () => true, everyMs: FIGURES_MS, gapMs: FIGURES_GAP_MS });
  const [queues, topics, courts, groups, oldest] = [useQueues(), useTopics(), useCourts(), useGroups(), useOldest()];
  const refresh = () => {
    for (const part of [readiness, figures, queues, topics, courts, groups, oldest]) part.refresh();
  };
  useShortcuts([{ key: 'r', does: t.common.refresh, run: refresh }]);
  const seen = {
    readiness: readiness.data,
    figures: figures.data,
    queues: [...(oldest.data ?? []), ...(queues.data ?? [])],
    topics: topics.data ?? [],
    courts: courts.data ?? [],
  };
  const known = Boolean(readiness.data && figures.data && oldest.data && queues.data);
  return (
    <Page
      title={t.pages.home}
      actions={
        <button type="button" onClick={refresh}>
          {t.common.refresh}
        </button>
      }
    >
      <Attention alerts={alertsOf(seen, t.home.alerts)} known={known} />
      <Section title={t.home.system}>
        <Loaded of={readiness}>{(state) => <System readiness={state} figures={figures.data} />}</Loaded>
      </Section>
      <Queues list={queues} />
      <Topics list={topics} />
      <Courts list={courts} />
      <Groups list={groups} />
    </Page>
  );
}

function Alerts({ alerts }: { alerts: Alert[] }) {
  return (
    <ul class="alerts">
      {alerts.map(({ tone, text }) => (
        <li key={text} class={tone}>
          {text}
        </li>
      ))}
    </ul>
  );
}

function Attention({ alerts, known }: { alerts: Alert[]; known: boolean }) {
  const t = texts.value.home;
  return (
    <Section title={t.attention}>
      {alerts.length > 0 ? (
        <>
          <Alerts alerts={alerts.slice(0, SHOWN)} />
          {alerts.length > SHOWN && (
            <details class="more-alerts">
              <summary>{t.moreAlerts(alerts.length - SHOWN)}</summary>
              <Alerts alerts={alerts.slice(SHOWN)} />
            </details>
          )}
        </>
      ) : known ? (
        <p class="empty good">{t.allGood}</p>
      ) : (
        <Loading />
      )}
    </Section>
  );
}

function System({ readiness: r, figures: f }: { readiness: Readiness; figures: Figures | undefined }) {
  const { engines: t, words } = texts.value.home;
  const word = (value: string) => words[value] ?? value;
  const count = (n: number | null | undefined) => (n === null || n === undefined ? '–' : number(n));
  const worker = r.status === 'degraded' && r.temporal === 'ok' ? 'none' : r.status === 'ok' ? 'ok' : 'unknown';
  const age = f?.oldestPending && f.pending ? ` · ${duration(f.oldestPending)}` : '';
  const tiles: [string, string, boolean][] = [
    [t.postgres, word(r.postgres === 'ok' ? r.schema : r.postgres), r.postgres !== 'ok' || r.schema !== 'ok'],
    [t.temporal, word(r.temporal), r.temporal !== 'ok'],
    [t.workers, word(worker), worker === 'none'],
    [t.handover, f?.handover ? `≤ ${milliseconds(f.handover * 1_000)}` : '–', false],
    [t.pending, `${count(f?.pending)}${age}`, false],
    [t.failed, count(f?.failed), Boolean(f?.failed)],
    [t.parked, count(f?.parked), Boolean(f?.parked)],
    [t.behind, count(f?.behind), false],
  ];
  return (
    <dl class="tiles">
      {tiles.map(([label, value, isBad]) => (
        <div key={label} class={isBad ? 'bad' : ''}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
