import { useResource } from '../../api/resource.ts';
import { Loading } from '../../components/feedback.tsx';
import { duration, milliseconds, number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { Page, Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { alertsOf } from './alerts.ts';
import './home.css';
import { useCourts, useGroups, useOldest, useQueues, useTopics } from './lists.ts';
import { loadSystem, type SystemState } from './system.ts';
import { Courts, Groups, Queues, Topics } from './tables.tsx';

const SYSTEM_MS = 5_000;

/** What is going on, and what needs somebody. */
export function Home() {
  const t = texts.value;
  const system = useResource(loadSystem, [], { everyMs: SYSTEM_MS });
  const [queues, topics, courts, groups, oldest] = [useQueues(), useTopics(), useCourts(), useGroups(), useOldest()];
  const refresh = () => {
    for (const part of [system, queues, topics, courts, groups, oldest]) part.refresh();
  };
  useShortcuts([{ key: 'r', does: t.common.refresh, run: refresh }]);
  const seen = {
    system: system.data,
    queues: [...(oldest.data ?? []), ...(queues.data ?? [])],
    topics: topics.data ?? [],
    courts: courts.data ?? [],
  };
  const known = system.data !== undefined && queues.data !== undefined;
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
      {system.data && <System state={system.data} />}
      <Queues list={queues} />
      <Topics list={topics} />
      <Courts list={courts} />
      <Groups list={groups} />
    </Page>
  );
}

function Attention({ alerts, known }: { alerts: ReturnType<typeof alertsOf>; known: boolean }) {
  const t = texts.value.home;
  return (
    <Section title={t.attention}>
      {alerts.length > 0 ? (
        <ul class="alerts">
          {alerts.map(({ tone, text }) => (
            <li key={text} class={tone}>
              {text}
            </li>
          ))}
        </ul>
      ) : known ? (
        <p class="empty good">{t.allGood}</p>
      ) : (
        <Loading />
      )}
    </Section>
  );
}

function System({ state: s }: { state: SystemState }) {
  const { engines: t, words } = texts.value.home;
  const word = (value: string) => words[value] ?? value;
  const count = (n: number | null) => (n === null ? '–' : number(n));
  const worker = s.status === 'degraded' && s.temporal === 'ok' ? 'none' : s.status === 'ok' ? 'ok' : 'unknown';
  const pending =
    s.oldestPending && s.pending ? `${count(s.pending)} · ${duration(s.oldestPending)}` : count(s.pending);
  const tiles: [string, string, boolean][] = [
    [t.postgres, word(s.postgres === 'ok' ? s.schema : s.postgres), s.postgres !== 'ok' || s.schema !== 'ok'],
    [t.temporal, word(s.temporal), s.temporal !== 'ok'],
    [t.workers, word(worker), worker === 'none'],
    [t.nodes, count(s.nodes), false],
    [t.handover, s.handover === null ? '–' : `≤ ${milliseconds(s.handover * 1_000)}`, false],
    [t.pending, pending, false],
    [t.failed, count(s.failed), Boolean(s.failed)],
    [t.parked, count(s.parked), Boolean(s.parked)],
    [t.behind, count(s.behind), false],
  ];
  return (
    <Section title={texts.value.home.system}>
      <dl class="tiles">
        {tiles.map(([label, value, isBad]) => (
          <div key={label} class={isBad ? 'bad' : ''}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
