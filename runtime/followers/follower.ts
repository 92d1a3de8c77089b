import type { Client } from '@temporalio/client';
import { columnsOf, type Db, type RowOf } from '../../db/pool.ts';
import { isFinal } from '../../domain/items.ts';
import { Alarm } from '../alarm.ts';
import type { Limits } from '../limits.ts';
import type { Log } from '../log.ts';
import { type Entry, isOver, LANES, type Lane } from './lanes.ts';
import { callbackOf, changeOf, lineOf, type Publication } from './messages.ts';
import type { Callers } from './pace.ts';
import { createReader, type Reader } from './reader.ts';
import { Sender } from './sender.ts';
import { type Cursors, createShards } from './shards.ts';

export interface FollowerOptions extends Omit<Limits, 'maxCalls' | 'maxHeldBytes'> {
  db: Db;
  /** Unique per process. */
  node: string;
  log: Log;
  /** Whether a pacemaker does the prompt work somewhere. */
  pacemaker: boolean;
  callers: Callers;
}

const LOG_LANES: Lane[] = ['outcomes', 'rest', 'idle'];
const IDLE_MS = 5_000;
/** How long lines that no one waits for may remain unread, so that a burst is read at once. */
const SOON_MS = 100;
const GAPS_MS = 25;
const MAX_GAPS_MS = 1_000;
const FAILED_MS = 1_000;
const STORE_MS = 500;
const BESIDE_MS = 1_000;
const MARKED_BATCH = 1_000;
const REFUSED_SECONDS = 30;
/** Lanes whose positions differ by less than this are read together. */
const NEAR = 1_000;

/**
 * Follows the log and publishes to the workflows: reads its lines, merges them per item, and sends each item's current
 * row. Only cursors are stored. A line that was sent before its cursor was stored is sent again, which changes nothing
 * (docs/ARCHITECTURE.md, From the log to the workflows).
 */
export class Follower {
  readonly #o: FollowerOptions;
  readonly #shards: ReturnType<typeof createShards>;
  readonly #lines: Reader<RowOf<'follow_log'>>;
  readonly #callbacks: Reader<RowOf<'follow_callbacks'>>;
  #sender: Sender | undefined;
  #readTo: Cursors = { reviews: 0, outcomes: 0, rest: 0, idle: 0 };
  /** When it began to read, by the database's clock. */
  #since: Date | undefined;
  #markedTo = 0;
  /** Marks whose items have been published. */
  #marks: { kind: string; id: string; marked: number }[] = [];
  #gapsMs = GAPS_MS;
  #storeAt = 0;
  /** When callbacks and marks are next read, unless someone waits for them earlier. */
  #besideAt = 0;
  #waiting = 0;
  #running: Promise<void> | undefined;
  #stopping = false;
  /** The set of shards that this process owns may have changed. */
  #uncertain = true;
  readonly #alarm = new Alarm();
  /** Number of items that got no workflow because they had ended too long ago (`skipEndedSeconds`). */
  skipped = 0;

  constructor(options: FollowerOptions) {
    this.#o = options;
    const { db, node } = options;
    this.#shards = createShards(db, node);
    this.#lines = createReader(db, (range) => db.run('follow_log', range));
    this.#callbacks = createReader(db, (range) => db.run('follow_callbacks', range));
  }

  /** Unpublished items in memory. */
  get pending(): number {
    return this.#sender?.pending ?? 0;
  }

  /** Whether the last attempt to reach Temporal failed. */
  get down(): boolean {
    return this.#sender?.down ?? false;
  }

  get isRunning(): boolean {
    return this.#running !== undefined && !this.#stopping;
  }

  /** Whether this follower leads: it owns the first shard, and does the chores that one follower does for all. */
  get leads(): boolean {
    return this.isRunning && this.#shards.has(0);
  }

  /** Reads soon, because something was committed. @param urgent someone waits for it: reads now */
  look(urgent: boolean): void {
    if (urgent) this.#besideAt = 0;
    this.#alarm.wakeIn(urgent ? 0 : SOON_MS);
  }

  /** Notes that the worker of this process has run a workflow task of that id. */
  ran(workflow: string): void {
    this.#sender?.ran(workflow);
  }

  /** @param client over the connection of this process's worker */
  start(client: Client): void {
    this.#sender = new Sender({
      ...{ ...this.#o, client },
      isNeedless: (entry) => this.#isNeedless(entry),
      done: (entry) => this.#done(entry),
      refused: async ({ row: { kind, id } }) =>
        void (await this.#o.db.run('put_off', { kind, id, seconds: REFUSED_SECONDS })),
    });
    this.#stopping = false;
    this.#running = this.#follow(this.#sender);
  }

  /** Renews the ownership of its shards; to be called every few seconds. */
  keep(): void {
    this.#uncertain = true;
    this.#alarm.wakeIn(0);
  }

  /** Stops sending, stores its cursors, and leaves its shards to others. */
  async stop(): Promise<void> {
    const [sender, running] = [this.#sender, this.#running];
    if (!sender || !running) return;
    this.#stopping = true;
    this.#alarm.wakeIn(0);
    await running;
    await sender.stop();
    await this.#store(sender).catch(() => {});
    await this.#shards.leave().catch(() => {});
    this.#sender = undefined;
    this.#running = undefined;
    this.#uncertain = true;
  }

  async #keep(sender: Sender): Promise<void> {
    this.#uncertain = false;
    if (await this.#shards.keep()) this.#startOver(sender);
    this.#waiting = (await this.#o.db.run('waiting_items'))[0]?.n ?? 0;
  }

  /** Resumes at the stored cursors. */
  #startOver(sender: Sender): void {
    sender.clear();
    this.#lines.reset();
    this.#callbacks.reset();
    this.#markedTo = 0;
    this.#since = undefined;
    if (this.#shards.numbers().length === 0) return;
    for (const lane of LANES) this.#readTo[lane] = this.#shards.lowest(lane);
  }

  async #follow(sender: Sender): Promise<void> {
    while (!this.#stopping) {
      let waitMs = IDLE_MS;
      try {
        if (this.#uncertain) await this.#keep(sender);
        if (this.#shards.numbers().length > 0) waitMs = await this.#pass(sender);
      } catch (error) {
        this.#o.log.warn({ err: (error as Error).message }, 'the log could not be read, trying again');
        this.#uncertain = true;
        waitMs = FAILED_MS;
      }
      if (!this.#stopping) await this.#alarm.sleep(waitMs);
    }
  }

  /** @returns milliseconds until the next one */
  async #pass(sender: Sender): Promise<number> {
    const more = [await this.#read(sender, LOG_LANES, this.#lines, lineOf)];
    if (performance.now() >= this.#besideAt) {
      this.#besideAt = performance.now() + BESIDE_MS;
      more.push(await this.#read(sender, ['reviews'], this.#callbacks, callbackOf), await this.#readMarked(sender));
      if (more.includes(true)) this.#besideAt = 0;
    }
    sender.pump();
    if (performance.now() >= this.#storeAt) await this.#store(sender);
    if (more.includes(true)) return 0;
    if (!this.#lines.hasGaps() && !this.#callbacks.hasGaps()) this.#gapsMs = GAPS_MS;
    else this.#gapsMs = Math.min(MAX_GAPS_MS, this.#gapsMs * 2);
    const gapsMs = this.#gapsMs > GAPS_MS ? this.#gapsMs : IDLE_MS;
    return Math.min(gapsMs, sender.pending > 0 ? STORE_MS : IDLE_MS);
  }

  /** Reads for the lanes that have space, those with near positions together. @returns whether there is more */
  async #read<L extends { position: number | null; late: boolean | null; oldest: number; now: Date }>(
    sender: Sender,
    lanes: Lane[],
    reader: Reader<L>,
    publicationOf: (line: L & { position: number }, since: Date) => Publication | undefined,
  ): Promise<boolean> {
    let left = lanes.filter(sender.hasSpace);
    let any = false;
    while (left.length > 0) {
      const from = Math.min(...left.map((lane) => this.#readTo[lane]));
      const group = left.filter((lane) => this.#readTo[lane] - from < NEAR);
      left = left.filter((lane) => !group.includes(lane));
      const { lines, readTo, more } = await reader.readAfter(from);
      const full = new Map<Lane, number>();
      for (const line of lines) {
        this.#since ??= line.now;
        const publication = publicationOf(line, this.#since);
        const lane = publication && this.#shards.has(publication.shard) ? sender.laneOf(publication) : undefined;
        if (!publication || !lane) continue;
        // A line that fills a gap is new to all lanes, also to those that have read past it. A line of an item that is
        // queued is merged with it now, because it may belong to another lane later. A lane that is not read now reads
        // the others later.
        const isNext = group.includes(lane) && line.position > this.#readTo[lane];
        const wanted = line.late || isNext || sender.isQueuedIn(lane, publication);
        if (!wanted || this.#shards.isPast(publication.shard, lane, line.position)) continue;
        if (!sender.add(lane, publication)) full.set(lane, Math.min(line.position - 1, full.get(lane) ?? readTo));
      }
      for (const lane of group) this.#readTo[lane] = Math.max(this.#readTo[lane], readTo);
      for (const [lane, to] of full) this.#readTo[lane] = Math.min(this.#readTo[lane], to);
      any ||= more;
    }
    return any;
  }

  /** @returns whether there is more */
  async #readMarked(sender: Sender): Promise<boolean> {
    const shards = this.#shards.numbers();
    const rows = await this.#o.db.run('take_unpublished', { after: this.#markedTo, shards, limit: MARKED_BATCH });
    for (const row of rows) {
      const { marked, shard, now, epoch } = row;
      if (row.version === null) this.#marks.push({ kind: row.marked_kind, id: row.item_id, marked });
      else {
        const read = { row: changeOf(row), now, epoch, shard, marked, position: Number.POSITIVE_INFINITY };
        const publication = { ...read, events: [], fresh: false, reread: false, optional: false };
        const lane = sender.laneOf(publication);
        if (lane && !sender.add(lane, publication)) return false;
      }
      this.#markedTo = marked;
    }
    if (rows.length === MARKED_BATCH) return true;
    // Read from the start next time: a mark may have been committed late.
    this.#markedTo = 0;
    return false;
  }

  #done({ row, marked, needless, optional }: Entry): void {
    if (needless && !optional && isFinal(row.state)) this.skipped++;
    if (marked !== undefined) this.#marks.push({ kind: row.kind, id: row.id, marked });
    this.#alarm.wakeIn(STORE_MS);
  }

  #isNeedless({ row, now, readAt, lane, fresh, optional }: Entry): boolean {
    if (optional && fresh && isOver(row)) return true;
    if (lane !== 'idle') return false;
    if (!isFinal(row.state)) return this.#waiting > this.#o.waitingWorkflows;
    const overMs = now.getTime() + (performance.now() - readAt) - row.updated_at.getTime();
    return overMs > this.#o.skipEndedSeconds * 1_000;
  }

  /** Stores the cursor of each lane, and deletes the marks of published items. */
  async #store(sender: Sender): Promise<void> {
    this.#storeAt = performance.now() + STORE_MS;
    const marks = [...this.#marks];
    if (marks.length > 0) {
      await this.#o.db.run('published', columnsOf(marks, { kinds: 'kind', ids: 'id', marked: 'marked' }));
      this.#marks = this.#marks.slice(marks.length);
    }
    const settled = (lane: Lane) => (lane === 'reviews' ? this.#callbacks : this.#lines).settledTo(this.#readTo[lane]);
    const at = Object.fromEntries(LANES.map((lane) => [lane, settled(lane)])) as Cursors;
    const cursors = new Map(this.#shards.numbers().map((shard) => [shard, { ...at }]));
    for (const { shard, lane, position } of sender.unacknowledged()) {
      const cursor = cursors.get(shard);
      if (cursor) cursor[lane] = Math.min(cursor[lane], position - 1);
    }
    if (!(await this.#shards.move(cursors))) this.#uncertain = true;
  }
}
