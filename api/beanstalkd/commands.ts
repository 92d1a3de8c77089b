import type { Item, Popped } from '../../contract/items.ts';
import { isFinal } from '../../domain/items.ts';
import { bodyOfBytes, MAX_TCP_BYTES } from '../../domain/jobs.ts';
import * as jobs from '../../services/jobs/jobs.ts';
import * as popping from '../../services/jobs/popping.ts';
import * as topics from '../../services/jobs/topics.ts';
import { Problem } from '../../services/shared/service.ts';
import * as protocol from './protocol.ts';
import type { Session } from './session.ts';
import { jobStatsReply, statsReply, tubeStatsReply } from './stats.ts';

/**
 * @param data a put's body with its CRLF, if it has been read already
 * @returns the reply, or nothing when the connection is to be closed without one
 */
export type Handler<N extends protocol.CommandName> = (
  session: Session,
  command: protocol.Command & { name: N },
  data?: Buffer,
) => protocol.Reply | undefined | Promise<protocol.Reply | undefined>;

/** Longer waits are split: a timer takes 24 days at most. */
const LONGEST_WAIT_MS = 24 * 3600 * 1000;

/** The commands' handlers, which call the same services as the commands over HTTP. */
export const handlers: { [N in protocol.CommandName]: Handler<N> } = {
  async put(session, { priority, delay, ttr, bytes, wellFormed }, read) {
    const { listener, reader, using } = session;
    if (bytes > MAX_TCP_BYTES) return (await reader.skip(bytes + protocol.CRLF.length)) ? 'JOB_TOO_BIG\r\n' : undefined;
    if (!wellFormed) return protocol.BAD_FORMAT;
    session.become('producers');
    const data = read ?? (await reader.bytes(bytes + protocol.CRLF.length));
    if (!data) return undefined;
    if (data.toString('latin1', bytes) !== protocol.CRLF) return 'EXPECTED_CRLF\r\n';
    if (listener.draining) return 'DRAINING\r\n';
    const body = bodyOfBytes(data.subarray(0, bytes));
    const job = { topic: using.name, delay, TTR: Math.max(1, ttr), body, priority };
    const item = await jobs.put(session.ctx, job, session.holder);
    using.puts++;
    listener.puts++;
    return `INSERTED ${item.seq}\r\n`;
  },

  async use(session, { tube }) {
    const before = session.using;
    session.using = await session.listener.tubes.hold(tube, 'using');
    before.using--;
    return `USING ${tube}\r\n`;
  },

  reserve: (session) => reserve(session, Number.POSITIVE_INFINITY),

  'reserve-with-timeout': (session, { seconds }) => reserve(session, seconds),

  async 'reserve-job'(session, { number }) {
    const item = await popping.reserve(session.ctx, number, session.holder);
    if (!item) return protocol.NOT_FOUND;
    session.become('workers');
    return reserved(session, item);
  },

  async watch(session, { tube }) {
    if (!session.watching.some((t) => t.name === tube))
      session.watching = [...session.watching, await session.listener.tubes.hold(tube, 'watching')];
    return `WATCHING ${session.watching.length}\r\n`;
  },

  ignore(session, { tube }) {
    const at = session.watching.findIndex((t) => t.name === tube);
    const ignored = session.watching[at];
    if (ignored && session.watching.length === 1) return 'NOT_IGNORED\r\n';
    if (ignored) {
      // the last one replaces it, which list-tubes-watched shows
      const left = session.watching.slice(0, -1);
      const last = session.watching.at(-1);
      if (last && last !== ignored) left[at] = last;
      session.watching = left;
      ignored.watching--;
    }
    return `WATCHING ${session.watching.length}\r\n`;
  },

  async release(session, { number, priority, delay }) {
    const item = await withReservation(session, number, (held) => jobs.release(session.ctx, held, delay, { priority }));
    return item ? (item.state === 'buried' ? 'BURIED\r\n' : 'RELEASED\r\n') : protocol.NOT_FOUND;
  },

  async bury(session, { number, priority }) {
    const item = await withReservation(session, number, (held) => jobs.bury(session.ctx, held, { priority }));
    return item ? 'BURIED\r\n' : protocol.NOT_FOUND;
  },

  async touch(session, { number }) {
    const item = await withReservation(session, number, (held) => jobs.touch(session.ctx, held));
    if (item) session.reservations.add(item);
    return item ? 'TOUCHED\r\n' : protocol.NOT_FOUND;
  },

  /** A job deleted by the connection that reserved it is finished, not deleted. */
  async delete(session, { number }) {
    const { ctx, holder } = session;
    const item =
      (await withReservation(session, number, ({ id, token }) => jobs.finish(ctx, id, token, holder))) ??
      (await orNone(jobs.remove(ctx, number, holder, false)));
    if (!item) return protocol.NOT_FOUND;
    if (protocol.isTube(item.queue)) session.listener.tubes.counted(item.queue).deletes++;
    return 'DELETED\r\n';
  },

  async peek(session, { number }) {
    const item = await orNone(jobs.find(session.ctx, number));
    return found(item && !isFinal(item.state) ? item : undefined);
  },
  'peek-ready': async (session) => found(await jobs.first(session.ctx, session.using.name, 'ready')),
  'peek-delayed': async (session) => found(await jobs.first(session.ctx, session.using.name, 'delayed')),
  'peek-buried': async (session) => found(await jobs.first(session.ctx, session.using.name, 'buried')),
  stats: ({ listener }) => statsReply(listener),
  async 'stats-job'(session, { number }) {
    const stats = await orNone(jobs.stats(session.ctx, number));
    return stats ? jobStatsReply(stats) : protocol.NOT_FOUND;
  },
  'stats-tube': ({ listener }, { tube }) => tubeStatsReply(listener, tube),

  async kick(session, { bound }) {
    return `KICKED ${await jobs.kick(session.ctx, session.using.name, bound, session.holder)}\r\n`;
  },

  async 'kick-job'(session, { number }) {
    return (await orNone(jobs.kickOne(session.ctx, number, session.holder))) ? 'KICKED\r\n' : protocol.NOT_FOUND;
  },

  'list-tubes': async ({ listener }) => protocol.list(await listener.tubes.names()),
  'list-tube-used': ({ using }) => `USING ${using.name}\r\n`,
  'list-tubes-watched': ({ watching }) => protocol.list(watching.map((t) => t.name)),

  async 'pause-tube'({ listener }, { tube, seconds }) {
    if (!protocol.isTube(tube)) return protocol.BAD_FORMAT;
    const known = await listener.tubes.find(tube);
    if (!known) return protocol.NOT_FOUND;
    await topics.pause(listener.api.ctx, tube, seconds);
    known.pauses++;
    listener.wakeAfterPause(tube, seconds);
    return 'PAUSED\r\n';
  },

  quit: () => undefined,
};

/** Reserves a job. Without a ready one the wait ends with DEADLINE_SOON before a reservation expires, else with the timeout. */
async function reserve(session: Session, seconds: number): Promise<protocol.Reply | undefined> {
  const until = performance.now() + seconds * 1000;
  session.become('workers');
  for (;;) {
    const leftMs = Math.max(0, until - performance.now());
    const waitMs = session.halfClosed ? 0 : Math.min(leftMs, session.reservations.soonMs(), LONGEST_WAIT_MS);
    const [item] = await pop(session, waitMs);
    if (item) return reserved(session, item);
    if (session.gone) return undefined;
    if (session.reservations.soonMs() === 0) return protocol.DEADLINE_SOON;
    // one more attempt for a client that hangs up during its wait: the wait may have released the job that it found
    if (performance.now() >= until || (session.halfClosed && waitMs === 0)) return protocol.TIMED_OUT;
  }
}

/**
 * Several reserves that arrived together, in one pop.
 * @returns the replies to the first of them; none where the first has to wait
 */
export async function reserveTogether(session: Session, commands: protocol.Command[]): Promise<protocol.Reply[]> {
  session.become('workers');
  const items = await pop(session, 0, commands.length);
  const waits = commands.findIndex((c) => !(c.name === 'reserve-with-timeout' && c.seconds === 0));
  const none = session.reservations.soonMs() === 0 ? protocol.DEADLINE_SOON : protocol.TIMED_OUT;
  const replies =
    items.length > 0
      ? items.map((item) => reserved(session, item))
      : commands.slice(0, waits === -1 ? commands.length : waits).map(() => none);
  for (const { name } of commands.slice(0, replies.length)) session.listener.count(name);
  return replies;
}

async function pop(session: Session, waitMs: number, count = 1): Promise<Popped[]> {
  const topics = session.watching.map((t) => t.name).sort();
  const request = { topics, count, waitSeconds: waitMs / 1000, holder: session.holder, tcp: true };
  return waitMs === 0
    ? await popping.pop(session.ctx, { ...request, signal: new AbortController().signal })
    : await session.wait((signal) => popping.pop(session.ctx, { ...request, signal }));
}

function reserved(session: Session, item: Popped): protocol.Reply {
  session.reservations.add(item);
  return protocol.jobReply('RESERVED', item);
}

/** Runs a command with a reservation of this connection, and removes it. Undefined: it had ended. */
async function withReservation<T>(
  { reservations }: Session,
  number: number,
  command: (held: popping.Reservation) => Promise<T>,
): Promise<T | undefined> {
  const held = reservations.get(number);
  if (!held) return undefined;
  const item = await orNone(command(held));
  reservations.remove(number);
  return item;
}

/** Undefined for any problem: the protocol does not report why a command failed. */
const orNone = <T>(done: Promise<T>): Promise<T | undefined> =>
  done.catch((error: unknown) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });

const found = (item: Item | undefined) => (item ? protocol.jobReply('FOUND', item) : protocol.NOT_FOUND);
