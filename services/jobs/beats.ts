import type { Popped } from '../../contract/items.ts';
import { columnsOf } from '../../db/pool.ts';
import { share, sharePerGroup } from '../shared/batching.ts';
import { type Context, perContext } from '../shared/service.ts';
import { newToken } from '../shared/tokens.ts';
import * as jobs from './jobs.ts';
import * as popping from './popping.ts';

interface Beat extends popping.Reservation {
  topics: string[] | undefined;
  holder: string;
  /** The token of what is popped. */
  next: string;
}

interface Wanted extends Pick<popping.PopRequest, 'waitSeconds' | 'holder' | 'signal'> {
  /** Undefined: the topic of the job that is finished. */
  topics: string[] | undefined;
}

/** Those that ask for a job of the same topics share a statement. */
const beats = perContext(({ db }) =>
  sharePerGroup(() =>
    share(
      async (all: Beat[]) => {
        const columns = columnsOf(all, { ids: 'id', tokens: 'token', next: 'next', holders: 'holder' });
        const rows = await db.move('finish_next', { ...columns, topics: all[0]?.topics });
        const finished = new Map(rows.map((row) => [row.state === 'settled' && row.id, row]));
        const popped = new Map(rows.map((row) => [row.lease_id, row]));
        return all.map(({ id, next }) => ({ finished: finished.get(id), popped: popped.get(next) }));
      },
      { keys: ({ id, token }) => [id, token], max: popping.MOST_TOGETHER },
    ),
  ),
);

/**
 * Finishes a reservation and pops the next job by the same commit, or waits for one after it (S3.6). A repeat is given
 * the same job while that is reserved, and no other.
 * @throws Problem as `finish`; then nothing is popped
 */
export async function finishNext(
  ctx: Context,
  { id, token }: popping.Reservation,
  { topics, ...request }: Wanted,
): Promise<Popped | undefined> {
  const { holder } = request;
  const next = newToken();
  const beat = await beats(ctx)(JSON.stringify(topics ?? null), { id, token, topics, holder, next });
  if (!beat.finished) {
    const { queue } = await jobs.finish(ctx, id, token, holder);
    return (await ctx.db.run('next_of_job', { id, token, topics: topics ?? [queue], holder }))[0];
  }
  ctx.tracing?.saw('job', id);
  const wanted = { ...request, topics: topics ?? [beat.finished.queue], count: 1, token: next };
  return (await popping.pop(ctx, wanted, beat.popped ? [beat.popped] : []))[0];
}
