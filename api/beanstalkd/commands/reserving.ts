import type { Item } from '../../../db/items.ts';
import { buryJob, releaseJobs, reserveJob } from '../../../db/jobs.ts';
import { MAX_TCP_BYTES } from '../../../domain/jobs.ts';
import { newToken } from '../../../services/tokens.ts';
import { jobReply, NOT_FOUND, type Reply } from '../replies.ts';
import type { Session } from '../session.ts';
import type { Handlers } from './table.ts';

/** Longer waits are made of several: a timer takes no more than 24 days. */
const LONGEST_WAIT_MS = 24 * 3600 * 1000;

export const reserving: Handlers<
  'reserve' | 'reserve-with-timeout' | 'reserve-job' | 'release' | 'bury' | 'touch' | 'watch' | 'ignore'
> = {
  reserve: (session) => reserve(session, Number.POSITIVE_INFINITY),

  'reserve-with-timeout': (session, { seconds }) => reserve(session, seconds),

  async 'reserve-job'(session, { number }) {
    const { db } = session.door.api.runtime;
    const rows = await reserveJob(db, number, newToken(), session.holder, MAX_TCP_BYTES);
    const [item] = rows;
    if (!item) return NOT_FOUND;
    session.become('workers');
    return reserved(session, item);
  },

  async release(session, { number, priority, delay }) {
    const held = session.reservations.get(number);
    if (!held) return NOT_FOUND;
    const { db } = session.door.api.runtime;
    const rows = await releaseJobs(db, [held], delay, priority);
    session.reservations.remove(number);
    const [item] = rows;
    // a topic with a limit of attempts puts aside what has had them all
    return item ? (item.state === 'buried' ? 'BURIED\r\n' : 'RELEASED\r\n') : NOT_FOUND;
  },

  async bury(session, { number, priority }) {
    const held = session.reservations.get(number);
    if (!held) return NOT_FOUND;
    const { db } = session.door.api.runtime;
    const rows = await buryJob(db, held, priority);
    session.reservations.remove(number);
    return rows.length > 0 ? 'BURIED\r\n' : NOT_FOUND;
  },

  async touch(session, { number }) {
    const held = session.reservations.get(number);
    if (!held) return NOT_FOUND;
    const item = await session.door.api.services.items.renew({ kind: 'job', hold: { ...held, subject: null } });
    if (item) session.reservations.add(item);
    else session.reservations.remove(number);
    return item ? 'TOUCHED\r\n' : NOT_FOUND;
  },

  async watch(session, { tube }) {
    if (!session.watching.some((t) => t.name === tube))
      session.watching = [...session.watching, await session.door.tubes.hold(tube, 'watching')];
    return `WATCHING ${session.watching.length}\r\n`;
  },

  ignore(session, { tube }) {
    const at = session.watching.findIndex((t) => t.name === tube);
    const ignored = session.watching[at];
    if (ignored && session.watching.length === 1) return 'NOT_IGNORED\r\n';
    if (ignored) {
      // the last one takes its place, which list-tubes-watched shows
      const left = session.watching.slice(0, -1);
      const last = session.watching.at(-1);
      if (last && last !== ignored) left[at] = last;
      session.watching = left;
      session.door.tubes.drop(ignored, 'watching');
    }
    return `WATCHING ${session.watching.length}\r\n`;
  },
};

/**
 * A ready job goes first; without one, a reservation that is about to run out ends the wait, then the
 * timeout.
 */
async function reserve(session: Session, seconds: number): Promise<Reply | undefined> {
  const until = performance.now() + seconds * 1000;
  session.become('workers');
  for (;;) {
    const leftMs = Math.max(0, until - performance.now());
    const waitMs = session.halfClosed ? 0 : Math.min(leftMs, session.reservations.soonMs(), LONGEST_WAIT_MS);
    const item = await pop(session, waitMs);
    if (item) return reserved(session, item);
    if (session.gone) return undefined;
    if (session.reservations.soonMs() === 0) return 'DEADLINE_SOON\r\n';
    // who was hung up on while waiting gets one more look: the wait may have given back what it found
    if (performance.now() >= until || (session.halfClosed && waitMs === 0)) return 'TIMED_OUT\r\n';
  }
}

async function pop(session: Session, waitMs: number): Promise<Item | undefined> {
  const topics = session.watching.map((t) => t.name).sort();
  const request = { topics, count: 1, waitSeconds: waitMs / 1000, holder: session.holder, tcp: true };
  const { jobs } = session.door.api.services;
  const [item] =
    waitMs === 0
      ? await jobs.pop({ ...request, signal: new AbortController().signal })
      : await session.wait((signal) => jobs.pop({ ...request, signal }));
  return item;
}

function reserved(session: Session, item: Item): Reply {
  session.reservations.add(item);
  return jobReply('RESERVED', item);
}
