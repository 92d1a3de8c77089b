import { type BenchTask, gidOf } from './population.ts';

/** What `next` answers when there is something. */
export interface Answer {
  task: { id: string; params: BenchTask['params'] };
  logId: string;
  redo: boolean;
}

interface Entry {
  task: BenchTask;
  /** When the pulls that it was handed to were sent. */
  sent: number[];
  users: Set<string>;
  change?: { limit: number; revision: number; at: number };
  deletedAt?: number;
}

export interface Faults {
  dispatches: number;
  /** Dispatches beyond `dispatchTimes`. */
  over: number;
  /** Handed to a pull that was sent after the answer to what should have prevented it. */
  stale: number;
  /** A task that each user gets once, to a user who had it. */
  twice: number;
  /** To a user who had an unfinished one. */
  atOnce: number;
}

/** Keeps the books of one side, by what its clients and its administrator were answered. */
export class Ledger {
  readonly #entries: Map<string, Entry>;
  readonly #left = new Map<string, number>();
  readonly #unfinished = new Map<string, string>();
  readonly #faults = { dispatches: 0, stale: 0, twice: 0, atOnce: 0 };

  constructor(tasks: BenchTask[]) {
    this.#entries = new Map(tasks.map((task) => [task.id, { task, sent: [], users: new Set() }]));
  }

  handed(uid: string, { task, logId, redo }: Answer, sentAt: number): void {
    if (redo) return;
    const entry = this.#entry(task.id);
    this.#faults.dispatches++;
    if (this.#isStale(entry, uid, task.params.revision, sentAt)) this.#faults.stale++;
    if (entry.users.has(uid) && entry.task.dispatch === 'each-once') this.#faults.twice++;
    if (this.#unfinished.has(uid)) this.#faults.atOnce++;
    entry.users.add(uid);
    entry.sent.push(sentAt);
    this.#unfinished.set(uid, logId);
  }

  /** A user is about to complete something. */
  finishing(uid: string, logId: string): void {
    if (this.#unfinished.get(uid) === logId) this.#unfinished.delete(uid);
  }

  /** Whether no one has changed or deleted it. */
  untouched(id: string): boolean {
    const { change, deletedAt } = this.#entry(id);
    return change === undefined && deletedAt === undefined;
  }

  changed(id: string, limit: number, revision: number): void {
    this.#entry(id).change = { limit, revision, at: performance.now() };
  }

  deleted(id: string): void {
    this.#entry(id).deletedAt = performance.now();
  }

  left(uid: string, group: number): void {
    this.#left.set(`${uid} gid_${gidOf(group)}`, performance.now());
  }

  faults(): Faults {
    const over = [...this.#entries.values()].reduce(
      (sum, entry) => sum + Math.max(0, entry.sent.length - most(entry)),
      0,
    );
    return { ...this.#faults, over };
  }

  #isStale({ task, change, deletedAt }: Entry, uid: string, revision: number, sentAt: number): boolean {
    const leftAt = this.#left.get(`${uid} ${task.executor}`);
    const old = change !== undefined && revision < change.revision && change.at < sentAt;
    return old || [deletedAt, leftAt].some((at) => at !== undefined && at < sentAt);
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`no one made task ${id}`);
    return entry;
  }
}

/** How many dispatches are right: of a limit that was lowered, those that may have been made before. */
function most({ task, change, sent }: Entry): number {
  if (!change) return task.dispatchTimes;
  const before = sent.filter((at) => at < change.at).length;
  return Math.max(change.limit, Math.min(task.dispatchTimes, before));
}

export const sum = (all: Faults[]): Faults =>
  all.reduce((a, b) => ({
    dispatches: a.dispatches + b.dispatches,
    ...{ over: a.over + b.over, stale: a.stale + b.stale, twice: a.twice + b.twice, atOnce: a.atOnce + b.atOnce },
  }));
