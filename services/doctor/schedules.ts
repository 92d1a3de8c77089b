import { ScheduleNotFoundError } from '@temporalio/client';
import { SCHEDULE_PREFIX, scheduleId, syncSchedule } from '../jobs/schedules.ts';
import { type Check, type Examined, eachOf, type Found } from './checks.ts';

type Named = [topic: string, name: string];

const AT_ONCE = 4;
const PAGE = 500;

/** Rows of schedules against Temporal's schedules, in both directions. */
export const SCHEDULE_CHECKS: readonly Check[] = [
  {
    name: 'schedules-missing',
    severity: 'broken',
    rule: 'Temporal has each schedule that there is',
    advice: 'Run docket doctor --repair, which makes these schedules again and makes up for the last hour.',
    async look(of, before) {
      const rows = await wanted(of);
      if (!before) {
        const known = await listed(of);
        return [...rows.keys()].filter((id) => !known.has(id)).map((id) => ({ id }));
      }
      const still: Found[] = [];
      await eachOf(before, AT_ONCE, async (found) => {
        if (rows.has(found.id) && (await describe(of, found.id)) === 'gone') still.push(found);
      });
      return still;
    },
    async repair(of, found) {
      const rows = await wanted(of);
      for (const { id } of found) {
        const named = rows.get(id);
        if (named) await syncSchedule(of, ...named);
      }
      return `${found.length} were made again.`;
    },
  },
  {
    name: 'schedules-left',
    severity: 'broken',
    rule: 'Temporal has no schedule of Docket that there is no row of',
    advice: 'Run docket doctor --repair, which deletes these schedules; their firings add no jobs.',
    async look(of, before) {
      const rows = await wanted(of);
      const ids = before ? before.map(({ id }) => id) : [...(await listed(of))];
      const suspected = ids.filter((id) => !rows.has(id));
      const still: Found[] = [];
      await eachOf(suspected, AT_ONCE, async (id) => {
        const named = await describe(of, id);
        // also compared with the rows that are about to be brought to Temporal
        if (Array.isArray(named) && !(await hasRow(of, named))) still.push({ id, says: `of topic ${named[0]}` });
      });
      return still;
    },
    async repair(of, found) {
      let deleted = 0;
      for (const { id } of found) {
        const named = await describe(of, id);
        if (!Array.isArray(named)) continue;
        // this locks the schedule's row and reads it again
        await syncSchedule(of, ...named);
        deleted++;
      }
      return `${deleted} were deleted.`;
    },
  },
];

/** The rows by their ids in Temporal, without those that are about to be brought there. */
async function wanted({ db }: Examined): Promise<Map<string, Named>> {
  const rows = await db.run('settled_schedules');
  return new Map(rows.map(({ topic, name }) => [scheduleId(topic, name), [topic, name]]));
}

/** Ids of Docket's schedules from Temporal's visibility store, which is some seconds late. */
async function listed({ client }: Examined): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { scheduleId: id } of client.schedule.list({ pageSize: PAGE }))
    if (id.startsWith(SCHEDULE_PREFIX)) ids.add(id);
  return ids;
}

/** Topic and name from the schedule itself; undefined where another program made it, `gone` where there is none. */
async function describe({ client }: Examined, id: string): Promise<Named | 'gone' | undefined> {
  try {
    const { action } = await client.schedule.getHandle(id).describe();
    const [topic, name] = (action.args ?? []) as unknown[];
    return typeof topic === 'string' && typeof name === 'string' ? [topic, name] : undefined;
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    return 'gone';
  }
}

const hasRow = async ({ db }: Examined, [topic, name]: Named) =>
  (await db.run('get_schedule', { topic, name })).length > 0;
