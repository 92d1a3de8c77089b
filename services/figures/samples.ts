import { type FigureKind, MOST_POINTS } from '../../contract/figures.ts';
import { only, type RowOf } from '../../db/pool.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { invalid } from '../shared/problems.ts';

/** Queues that are sampled in a minute: what changes in more of them all the time has coarser figures. */
const MOST_SAMPLED = 2_000;

/** Events, or votes, that one call reads at most. */
const MOST_LINES = 50_000;
/** Persons that one answer has at most. */
export const MOST_PERSONS = 200;

/** Of whom, where and when; what is undefined is not asked for. Times in ISO 8601. */
interface Between {
  person?: string | undefined;
  queue?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** What is asked for: times in ISO 8601, a step in seconds; `queue` empty: all of the kind. */
interface Wanted {
  kind: FigureKind;
  queue: string;
  from: string | undefined;
  to: string | undefined;
  step: number | undefined;
}

type Sample = RowOf<'queue_samples'>;

/** What queues had and did over time, from samples that maintenance takes once a minute. */
export function sampleService({ db, maintenance }: Runtime) {
  maintenance.add(async () => void (await db.lists.run('sample_queues', { limit: MOST_SAMPLED })));
  return {
    /**
     * The state at the begin, and at the end of each step.
     * @throws Problem 422 for a time that has no length, or more steps than there may be
     */
    async over(wanted: Wanted): Promise<Sample[]> {
      const rows = await db.lists.run('queue_samples', { ...wanted, limit: MOST_POINTS });
      if (rows.length < 2) throw invalid('from', 'must be before to');
      if (rows.length > MOST_POINTS + 1) throw invalid('step', `makes more than ${MOST_POINTS} points`);
      return rows;
    },
    /** Of reviewers, those with the most decisions first; a row without a person where there is none. */
    reviewers: (wanted: Between) =>
      db.lists.run('reviewer_figures', { ...wanted, lines: MOST_LINES, limit: MOST_PERSONS + 1 }),
    /** The same of the jurors of a court. */
    jurors: (court: string, wanted: Between) =>
      db.lists.run('juror_figures', { ...wanted, court, lines: MOST_LINES, limit: MOST_PERSONS + 1 }),
    /** Hand-outs by lateness, between these bounds in seconds. */
    lateness: async (kind: 'ticket' | 'job', bounds: readonly number[], { queue, from, to }: Between) =>
      only(await db.lists.run('handout_lateness', { kind, queue, from, to, bounds: [...bounds], lines: MOST_LINES })),
  };
}
