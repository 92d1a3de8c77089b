import type { Db } from '../../db/pool.ts';

/** Numbers that were not there when later ones were: a transaction that drew them may still be under way. */
interface Gap {
  first: number;
  last: number;
  /** Once all transactions up to this one have ended, nothing comes into it any more. */
  until: number;
}

/** What a source of lines is read by. */
export interface Range {
  after: number;
  limit: number;
  first: number[];
  last: number[];
}

interface Line {
  position: number | null;
  /** It has come into a gap, wherever it was read from. */
  late: boolean | null;
  /** All transactions before this one have ended. */
  oldest: number;
}

const BATCH = 1_000;

/**
 * Reads numbered lines in their order and waits for none: numbers are drawn before the commit, so that a lower one may
 * become visible after a higher one. Such gaps are looked into at each reading until nothing can come into them.
 */
export class Reader<L extends Line> {
  readonly #db: Db;
  readonly #read: (range: Range) => Promise<L[]>;
  #gaps: Gap[] = [];

  constructor(db: Db, read: (range: Range) => Promise<L[]>) {
    this.#db = db;
    this.#read = read;
  }

  /** Whether lines may come that are before those read. */
  get hasGaps(): boolean {
    return this.#gaps.length > 0;
  }

  /** The last number before which no line can come any more, of those up to `readTo`. */
  settledTo(readTo: number): number {
    return Math.min(readTo, ...this.#gaps.map((gap) => gap.first - 1));
  }

  reset(): void {
    this.#gaps = [];
  }

  /**
   * @returns lines behind `after`, with those that have come into gaps, which may lie behind it too; up to where it was
   * read; and whether there are more
   */
  async readAfter(after: number): Promise<{ lines: (L & { position: number })[]; readTo: number; more: boolean }> {
    const asked = this.#gaps;
    const rows = await this.#read({
      after,
      limit: BATCH,
      first: asked.map((gap) => gap.first),
      last: asked.map((gap) => gap.last),
    });
    const lines = rows.filter((row): row is L & { position: number } => row.position !== null);
    const oldest = rows[0]?.oldest ?? 0;
    const late = lines.filter((line) => line.late).map((line) => line.position);
    const ahead = lines.filter((line) => !line.late).map((line) => line.position);
    const readTo = ahead.at(-1) ?? after;
    const inside = (gap: Gap) => late.filter((position) => position >= gap.first && position <= gap.last);
    const open = asked
      .filter((gap) => gap.until >= oldest || inside(gap).length >= BATCH)
      .flatMap((gap) => without(gap, inside(gap)));
    const fresh = missing(after, ahead).filter((gap) => !open.some((g) => g.first <= gap.first && gap.last <= g.last));
    if (fresh.length > 0) {
      const [mark] = await this.#db.run('mark_gaps');
      open.push(...fresh.map((gap) => ({ ...gap, until: mark?.xid ?? Number.POSITIVE_INFINITY })));
    }
    this.#gaps = open;
    return { lines, readTo, more: ahead.length === BATCH };
  }
}

/** What of a gap is left when these lines have come into it. */
function without({ first, last, until }: Gap, inside: number[]): Gap[] {
  const rest = missing(first - 1, inside).map((gap) => ({ ...gap, until }));
  const end = inside.at(-1) ?? first - 1;
  return end < last ? [...rest, { first: end + 1, last, until }] : rest;
}

/** The stretches between numbers in order, behind `after`. */
function missing(after: number, positions: number[]): { first: number; last: number }[] {
  const gaps: { first: number; last: number }[] = [];
  let before = after;
  for (const position of positions) {
    if (position > before + 1) gaps.push({ first: before + 1, last: position - 1 });
    before = position;
  }
  return gaps;
}
