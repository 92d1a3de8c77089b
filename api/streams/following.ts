import type { Notice, NoticeFilter, Notices } from '../../runtime/notices.ts';
import type { EventStream } from './sse.ts';

export interface Following {
  /** Which notices, as the database selects what was missed. */
  of: NoticeFilter;
  /** Whether this reader gets a notice. */
  wanted(notice: Notice): boolean;
  /** Number of the last one the reader has; undefined: it begins now. */
  lastSeen: number | undefined;
}

/**
 * Sends notices, first those that the reader missed. What comes meanwhile is sent after them, none twice.
 * @returns how to end it, and the id that an event without a number of its own carries, so that whoever resumes
 *   behind that event misses no notice
 */
export async function follow(notices: Notices, stream: EventStream, { of, wanted, lastSeen }: Following) {
  let position = lastSeen ?? (await notices.newest());
  const missed = new Set<number>();
  const write = (notice: Notice) => {
    if (!wanted(notice)) return;
    position = notice.seq;
    const { type, kind, item_id, data } = notice;
    stream.send(type, { kind, id: item_id, ...data }, String(position));
  };
  let arrived: Notice[] | undefined = [];
  const stop = await notices.listen((notice) => {
    if (arrived) arrived.push(notice);
    else if (!missed.has(notice.seq)) write(notice);
  });
  try {
    stream.begin(String(position));
    if (lastSeen !== undefined)
      for await (const notice of notices.missed(lastSeen, of)) {
        missed.add(notice.seq);
        write(notice);
      }
  } catch (error) {
    stop();
    throw error;
  }
  for (const notice of arrived) if (!missed.has(notice.seq)) write(notice);
  arrived = undefined;
  return { stop, position: () => String(position) };
}
