import { expect, onTestFinished } from 'vitest';
import type { FeedEvent } from '../../contract/feed.ts';
import type { Db, Mover } from '../../db/pool.ts';
import { type Client, deferred, eventually, ndjson } from './client.ts';

export interface Followed {
  /** What has come so far. */
  lines: FeedEvent[];
  /** Every character of it, blank lines too. */
  text(): string;
  /** Resolves when it ends, with why if it was cut off. */
  ended: Promise<Error | undefined>;
  /** Goes away, as a killed reader does: without a word. */
  cut(): void;
}

/** One answer of the feed, read to its end. */
export async function feed(client: Client, query: string): Promise<FeedEvent[]> {
  const response = await client.raw('GET', `/v1/feed?${query}`);
  if (response.status !== 200) throw new Error(`feed: ${response.status} ${JSON.stringify(response.body)}`);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  return ndjson(response.body);
}

/** The whole feed as of now, by as many answers as it takes. */
export async function wholeFeed(client: Client, limit = 10_000): Promise<FeedEvent[]> {
  const all: FeedEvent[] = [];
  for (;;) {
    const lines = await feed(client, `after=${all.at(-1)?.seq ?? 0}&limit=${limit}`);
    all.push(...lines);
    if (lines.length < limit) return all;
  }
}

/** Follows the feed behind a position. */
export async function follow(client: Client, query: string): Promise<Followed> {
  const abort = new AbortController();
  const headers: Record<string, string> = client.key ? { authorization: `Bearer ${client.key}` } : {};
  const response = await fetch(`${client.url}/v1/feed?follow=true&${query}`, { headers, signal: abort.signal });
  if (response.status !== 200 || !response.body) throw new Error(`feed: ${response.status} ${await response.text()}`);
  const lines: FeedEvent[] = [];
  const { body } = response;
  let [text, rest] = ['', ''];
  const read = async () => {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const whole = `${rest}${chunk}`.split('\n');
      rest = whole.pop() ?? '';
      for (const line of whole) if (line !== '') lines.push(JSON.parse(line));
    }
  };
  const ended = read().then(
    () => undefined,
    (error: Error) => error,
  );
  onTestFinished(() => abort.abort());
  return { lines, text: () => text, ended, cut: () => abort.abort() };
}

/** No gap, no repeat, no id twice, and every item's events one after the other from its first on. */
export function expectWhole(lines: FeedEvent[], after = 0): void {
  // not by `toEqual`, which would take longer over 100,000 of them than reading them
  const wrong = lines.findIndex((line, n) => line.seq !== after + n + 1);
  expect(wrong, wrong < 0 ? '' : `position ${lines[wrong]?.seq} behind ${lines[wrong - 1]?.seq ?? after}`).toBe(-1);
  expect(new Set(lines.map((line) => line.id)).size).toBe(lines.length);
  const numbers = new Map<string, number>();
  for (const { id, kind, itemId } of lines) {
    const item = `${kind}/${itemId}`;
    const [no, number = 0] = id
      .slice(item.length + 1)
      .split('/')
      .map(Number);
    const before = numbers.get(item) ?? (kind === 'review' ? -1 : 0);
    const wanted = `${item}/${no}/${before + 1}`;
    if (id !== wanted) expect(id, `behind ${item}/${before}`).toBe(wanted);
    numbers.set(item, number);
  }
}

/** One more event of a ticket. */
export const note = (db: Mover, id: string, data: object = { by: 'test' }, actor = 'test') =>
  db.move('note_item', { kind: 'ticket', id, type: 'refused', actor, data });

export interface Pending {
  /** Does more in the same transaction. */
  go(work: (tx: Mover) => Promise<unknown>): Promise<unknown>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A transaction that has done its work and waits to be told how it ends. */
export async function pending(db: Db, work: (tx: Mover) => Promise<unknown>): Promise<Pending> {
  const ends = deferred<boolean>();
  let ended: Promise<unknown> = Promise.resolve();
  let inside: Mover = db;
  await new Promise<void>((begun, failed) => {
    ended = db
      .transaction(async (tx) => {
        await work(tx);
        inside = tx;
        begun();
        if (!(await ends.promise)) throw new Error('rolled back');
      })
      .catch((error: Error) => {
        if (error.message !== 'rolled back') throw error;
      });
    ended.catch(failed);
  });
  const finish = async (commit: boolean) => {
    ends.resolve(commit);
    await ended;
  };
  onTestFinished(() => finish(false));
  return { go: (more) => more(inside), commit: () => finish(true), rollback: () => finish(false) };
}

/** Waits until a follower has so many events. */
export const arrived = (followed: Followed, count: number, ms?: number) =>
  eventually(async () => {
    if (followed.lines.length >= count) return true;
    throw new Error(`${followed.lines.length} of ${count} have come`);
  }, ms);
