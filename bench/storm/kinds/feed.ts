import type { Json } from '../../../test/support/client.ts';
import type { Workload } from '../workload.ts';

/** One line of the feed, as its reader got it. */
export interface FeedLine {
  seq: number;
  id: string;
}

const TIMEOUT_MS = 6_000;
const PAGE = 500;

/** Reads a page behind these lines. @returns whether there was something new. @throws where no whole page came */
export async function readOn(lines: FeedLine[], url: string): Promise<boolean> {
  const path = `/v1/feed?after=${lines.at(-1)?.seq ?? 0}&limit=${PAGE}`;
  const response = await fetch(url + path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status !== 200) throw new Error(`the feed answers ${response.status}`);
  const read = (await response.text()).split('\n').filter(Boolean);
  lines.push(...read.map((line) => JSON.parse(line)).map(({ seq, id }: Json) => ({ seq, id })));
  return read.length > 0;
}

/** A reader who goes on through all faults (S4.8). @returns what it has read so far */
export function feed(w: Workload): FeedLine[] {
  const lines: FeedLine[] = [];
  w.repeat(() => readOn(lines, w.pick(w.servers).http()).catch(() => false));
  return lines;
}
