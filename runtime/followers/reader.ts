import type { Db } from '../../db/pool.ts';

/** Numbers that are missing below visible ones. */
interface Missing {
  first: number;
  last: number;
}

/** The same while a transaction that drew them may still be running. */
interface Gap extends Missing {
  /** Once all transactions up to this one have ended, the gap is final. */
  until: number;
}

/** The range of lines to read, with the gaps to look into again. */
interface Range {
  after: number;
  limit: number;
  first: number[];
  last: number[];
}

interface Line {
  position: number | null;
  /** The line fills a gap. */
  late: boolean | null;
  /** The oldest transaction that is still running. */
  oldest: number;
}

const BATCH = 1_000;

/**
 * Reads numbered lines in order without waiting for missing ones: numbers are drawn before the commit, so a lower one may
 * become visible after a higher one. Each reading looks into these gaps again until they are final.
 */
export function createReader<L extends Line>(db: Db, read: (range: Range) => Promise<L[]>) {
  let gaps: Gap[] = [];
  return {
    /** Whether lines may still appear below those read. */
    hasGaps: () => gaps.length > 0,
    /** The last number up to `readTo` below which no line can appear any more. */
    settledTo: (readTo: number) => Math.min(readTo, ...gaps.map((gap) => gap.first - 1)),
    reset() {
      gaps = [];
    },
    /**
     * @returns the lines after `after` and those that have filled gaps, which may lie before it; the position up to which
     * was read; and whether there are more
     */
    async readAfter(after: number) {
      const [first, last] = [gaps.map((gap) => gap.first), gaps.map((gap) => gap.last)];
      const rows = await read({ after, limit: BATCH, first, last });
      const lines = rows.filter((row): row is L & { position: number } => row.position !== null);
      const oldest = rows[0]?.oldest ?? 0;
      const late = lines.filter((line) => line.late).map((line) => line.position);
      const ahead = lines.filter((line) => !line.late).map((line) => line.position);
      const readTo = ahead.at(-1) ?? after;
      const inside = (gap: Gap) => late.filter((position) => position >= gap.first && position <= gap.last);
      const open = gaps
        .filter((gap) => gap.until >= oldest || inside(gap).length >= BATCH)
        .flatMap((gap) => without(gap, inside(gap)));
      const isKnown = (gap: Missing) => open.some((g) => g.first <= gap.first && gap.last <= g.last);
      const fresh = missing(after, ahead).filter((gap) => !isKnown(gap));
      if (fresh.length > 0) {
        const [mark] = await db.run('mark_gaps');
        open.push(...fresh.map((gap) => ({ ...gap, until: mark?.xid ?? Number.POSITIVE_INFINITY })));
      }
      gaps = open;
      return { lines, readTo, more: ahead.length === BATCH };
    },
  };
}

export type Reader<L extends Line> = ReturnType<typeof createReader<L>>;

/** The rest of a gap after these lines have filled parts of it. */
function without({ first, last, until }: Gap, inside: number[]): Gap[] {
  const rest = missing(first - 1, inside).map((gap) => ({ ...gap, until }));
  const end = inside.at(-1) ?? first - 1;
  return end < last ? [...rest, { first: end + 1, last, until }] : rest;
}

/** The ranges missing between ascending numbers, from `after` on. */
function missing(after: number, positions: number[]): Missing[] {
  const gaps: Missing[] = [];
  let before = after;
  for (const position of positions) {
    if (position > before + 1) gaps.push({ first: before + 1, last: position - 1 });
    before = position;
  }
  return gaps;
}
