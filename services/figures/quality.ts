import { kappa, wilson } from '../../domain/quality.ts';
import type { Context } from '../shared/service.ts';

const MODEL = 'model:';

/**
 * How well a queue's tickets were decided, by each person and model (B.2).
 * @param from,to times in ISO 8601; left out: the last day
 */
export async function qualityOf({ db }: Context, queue: string, range: { from?: string; to?: string }) {
  const rows = await db.lists.run('quality', { queue, ...range });
  const [{ since, until } = { since: new Date(), until: new Date() }] = rows;
  const items = rows.flatMap(({ person, decided, looked, overturned, pairs, median_seconds, ...of }) => {
    if (person === null) return [];
    const who = person.startsWith(MODEL) ? { model: person.slice(MODEL.length) } : { reviewer: person };
    const found = { decided, looked, upheld: looked - overturned, overturned };
    return {
      ...{ ...who, ...found, overturnRate: wilson(overturned, looked) },
      gold: { judged: of.gold_judged, right: of.gold_right, skipped: of.gold_skipped },
      ...{ kappa: kappa(pairs), n: pairs.reduce((sum, [, , n]) => sum + n, 0), secondsMedian: median_seconds },
    };
  });
  const retiredGold = await db.lists.run('retired_gold', { queue });
  return { from: since.toISOString(), to: until.toISOString(), items, retiredGold };
}
