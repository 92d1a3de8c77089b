import type { Schemas } from '../../api/client.ts';
import { duration } from '../../components/format.ts';
import { isListKind, type ListKind, pathOf, queuePath, withQuery } from '../../links.ts';
import type { Texts } from '../../texts/en.ts';

type Attention = Schemas['Attention'];

export interface Link {
  text: string;
  path: string;
  /** Of what it leads to, where not all who see this page may read that. */
  kind?: ListKind;
}

export interface Alert {
  tone: 'bad' | 'warn';
  /** The queue that it is about, where it is about one. */
  queue?: Link;
  text: string;
  /** Where to look. */
  links: Link[];
}

/** After that, someone should see why the receiver does not answer. */
const PENDING_SECONDS = 300;
/** Publishing takes seconds, unless many items change or end at once. */
const BEHIND_SECONDS = 30;
/** Of several that are the same. */
const NAMED = 3;

/** What someone should look at, what is worst first. */
export function alertsOf(seen: Attention, { home: { alerts: t }, deliveries }: Texts): Alert[] {
  const { engines, failedDeliveries: failed, parked, oldestPendingDeliverySeconds: pending } = seen;
  const failedIn = failed.queues.map(({ kind, queue }) => ({
    text: queue ?? deliveries.kinds.review,
    path: withQuery('/deliveries', { state: 'failed', kind, queue }),
  }));
  const found: (Alert | false)[] = [
    engines.temporal !== 'ok' && { tone: 'bad', text: t.temporal, links: [] },
    engines.temporal === 'ok' && engines.worker !== 'ok' && { tone: 'bad', text: t.worker, links: [] },
    parked.total > 0 && { tone: 'bad', text: t.parked(parked.total), links: parked.items.map(itemLink) },
    ...seen.heldBack.map(({ queue: name, tickets }): Alert => {
      return { tone: 'bad', queue: queueLink({ kind: 'ticket', name }), text: t.heldBack(tickets), links: [] };
    }),
    failed.total > 0 && { tone: 'bad', text: t.failed(failed.total), links: failedIn },
    ...seen.waitingTooLong.map(({ oldestWaitingSeconds: oldest, targetSeconds: target, ...queue }): Alert => {
      return { tone: 'warn', queue: queueLink(queue), text: t.oldest(duration(oldest), duration(target)), links: [] };
    }),
    ...seen.pausedWithWork.map(({ waiting, ...queue }): Alert => {
      return { tone: 'warn', queue: queueLink(queue), text: t.paused(waiting), links: [] };
    }),
    ...seen.warnings.map(({ check, examples }): Alert => {
      return { tone: 'warn', text: `${t.warnings[check]}: ${examples.slice(0, NAMED).join('; ')}`, links: [] };
    }),
    engines.unpublishedOldestSeconds > BEHIND_SECONDS && {
      tone: 'warn',
      text: t.behind(engines.unpublished, duration(engines.unpublishedOldestSeconds)),
      links: [],
    },
    pending > PENDING_SECONDS && {
      ...{ tone: 'warn', text: t.pending(duration(pending)) },
      links: [{ text: t.toPending, path: withQuery('/deliveries', { state: 'pending' }) }],
    },
  ];
  return found.filter((one) => one !== false).map((one) => ({ ...one, links: one.links.slice(0, NAMED) }));
}

const itemLink = ({ kind, id }: Attention['parked']['items'][number]): Link => ({
  ...{ text: id, path: pathOf(kind, id) },
  ...(isListKind(kind) && { kind }),
});

/** To what is in a queue, topic or court; of a group, to itself. */
export const queueLink = ({ kind, name }: Pick<Attention['waitingTooLong'][number], 'kind' | 'name'>): Link => ({
  text: name,
  ...(isListKind(kind) ? { kind, path: queuePath(kind, name) } : { path: `/tasks/groups/${encodeURIComponent(name)}` }),
});
