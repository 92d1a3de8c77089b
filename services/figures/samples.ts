import { MOST_POINTS } from '../../contract/figures.ts';
import { only, type ParamsOf } from '../../db/pool.ts';
import { type Context, invalid } from '../shared/service.ts';

/** Queues sampled in one pass; where more change all the time, each is sampled less often. */
const MOST_SAMPLED = 2_000;

/** Events, or votes, that one call reads at most. */
const MOST_LINES = 50_000;
/** Persons in one answer. */
export const MOST_PERSONS = 200;

/** Filters, all optional; times in ISO 8601. */
type Between = Omit<ParamsOf<'reviewer_figures'>, 'lines' | 'limit' | 'gold'>;

/** Samples the queues that have changed, at most once a minute in the whole system. A maintenance chore. */
export async function take({ db }: Context): Promise<void> {
  await db.lists.run('sample_queues', { limit: MOST_SAMPLED });
}

/**
 * A queue's state at the beginning, and at the end of each step in seconds; `queue` empty: all of the kind.
 * @throws Problem 422 for an empty time, or too many steps
 */
export async function over({ db }: Context, wanted: Omit<ParamsOf<'queue_samples'>, 'limit'>) {
  const rows = await db.lists.run('queue_samples', { ...wanted, limit: MOST_POINTS });
  if (rows.length < 2) throw invalid('from', 'must be before to');
  if (rows.length > MOST_POINTS + 1) throw invalid('step', `makes more than ${MOST_POINTS} points`);
  return rows;
}

/**
 * Figures of reviewers, those with the most decisions first; one row without a person where there is none.
 * `gold`: their gold counts as tickets.
 */
export const reviewers = ({ db }: Context, wanted: Between & { gold: boolean }) =>
  db.lists.run('reviewer_figures', { ...wanted, lines: MOST_LINES, limit: MOST_PERSONS + 1 });

/** Figures of a court's jurors, in the same form. */
export const jurors = ({ db }: Context, court: string, wanted: Between) =>
  db.lists.run('juror_figures', { ...wanted, court, lines: MOST_LINES, limit: MOST_PERSONS + 1 });

/**
 * How long the tickets of a queue took that were decided in that time: a row of all, then one for each hour.
 * @param target in seconds, or null; what was decided within it is `kept`
 */
export const service = ({ db }: Context, queue: string, target: number | null, time: Pick<Between, 'from' | 'to'>) =>
  db.lists.run('service_figures', { ...time, queue, target });

/** First hand-outs by lateness, counted between these bounds in seconds. */
export const lateness = async (
  { db }: Context,
  kind: 'ticket' | 'job',
  bounds: readonly number[],
  { queue, from, to }: Between,
) => only(await db.lists.run('handout_lateness', { kind, queue, from, to, bounds: [...bounds], lines: MOST_LINES }));
