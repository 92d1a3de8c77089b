import type { Json } from '../../../test/support/client.ts';
import type { Workload } from '../workload.ts';

/** One line of the feed, as its reader got it. */
export interface FeedLine {
  seq: number;
  id: string;
}

const TIMEOUT_MS = 6_000;
const PAGE = 500;

/** Reads the feed from its beginning, each time from where it stands. */
export class FeedReader {
  readonly lines: FeedLine[] = [];

  /** @returns whether there was something new. @throws where no whole page came */
  async read(url: string): Promise<boolean> {
    const after = this.lines.at(-1)?.seq ?? 0;
    const response = await fetch(`${url}/v1/feed?after=${after}&limit=${PAGE}`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) throw new Error(`the feed answers ${response.status}`);
    const text = await response.text();
    const read = text
      .split('\n')
      .filter(Boolean)
      .map((line): Json => JSON.parse(line));
    this.lines.push(...read.map(({ seq, id }) => ({ seq, id })));
    return read.length > 0;
  }
}

/** A reader who goes on through all faults (S4.8). */
export function feed(w: Workload): FeedReader {
  const reader = new FeedReader();
  w.repeat(async () => {
    try {
      return await reader.read(w.pick(w.servers).http());
    } catch {
      return false;
    }
  });
  return reader;
}
