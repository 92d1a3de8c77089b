import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import type { Db } from '../../db/pool.ts';
import { SCHEDULE_PREFIX, scheduleId, syncSchedule } from '../jobs/schedules.ts';
import { type Check, eachOf, type Found } from './checks.ts';

interface Stores {
  db: Db;
  client: Client;
}

/** A schedule by its topic and name. */
type Named = [topic: string, name: string];

const AT_ONCE = 4;
const PAGE = 500;

/** Rows of schedules against Temporal's schedules, in both directions. */
export function scheduleChecks(o: Stores): Check[] {
  return [missing(o), leftOver(o)];
}

/** The rows by their ids in Temporal, without those that are about to be brought there. */
async function wanted({ db }: Stores): Promise<Map<string, Named>> {
  const rows = await db.run('settled_schedules');
  return new Map(rows.map(({ topic, name }) => [scheduleId(topic, name), [topic, name]]));
}

/** Ids of Docket's schedules from Temporal's visibility store, which is some seconds late. */
async function listed({ client }: Stores): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { scheduleId: id } of client.schedule.list({ pageSize: PAGE }))
    if (id.startsWith(SCHEDULE_PREFIX)) ids.add(id);
  return ids;
}

/** Topic and name from the schedule itself; undefined where another program made it, `gone` where there is none. */
async function describe({ client }: Stores, id: string): Promise<Named | 'gone' | undefined> {
  try {
    const { action } = await client.schedule.getHandle(id).describe();
    const [topic, name] = (action.args ?? []) as unknown[];
    return typeof topic === 'string' && typeof name === 'string' ? [topic, name] : undefined;
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    return 'gone';
  }
}

function missing(o: Stores): Check {
  return {
    name: 'schedules-missing',
    severity: 'broken',
    rule: 'Temporal has each schedule that there is',
    advice: 'Run docket doctor --repair, which makes these schedules again and makes up for the last hour.',
    async look(before) {
      const rows = await wanted(o);
      if (!before) {
        const known = await listed(o);
        return [...rows.keys()].filter((id) => !known.has(id)).map((id) => ({ id }));
      }
      const still: Found[] = [];
      await eachOf(before, AT_ONCE, async (found) => {
        if (rows.has(found.id) && (await describe(o, found.id)) === 'gone') still.push(found);
      });
      return still;
    },
    async repair(found) {
      const rows = await wanted(o);
      for (const { id } of found) {
        const named = rows.get(id);
        if (named) await syncSchedule(o, ...named);
      }
      return `${found.length} were made again.`;
    },
  };
}

function leftOver(o: Stores): Check {
  return {
    name: 'schedules-left',
    severity: 'broken',
    rule: 'Temporal has no schedule of Docket that there is no row of',
    advice: 'Run docket doctor --repair, which deletes these schedules; their firings add no jobs.',
    async look(before) {
      const rows = await wanted(o);
      const ids = before ? before.map(({ id }) => id) : [...(await listed(o))];
      const still: Found[] = [];
      await eachOf(
        ids.filter((id) => !rows.has(id)),
        AT_ONCE,
        async (id) => {
          const named = await describe(o, id);
          // also compared with the rows that are about to be brought to Temporal
          if (Array.isArray(named) && !(await hasRow(o, named))) still.push({ id, says: `of topic ${named[0]}` });
        },
      );
      return still;
    },
    async repair(found) {
      let deleted = 0;
      for (const { id } of found) {
        const named = await describe(o, id);
        if (!Array.isArray(named)) continue;
        // this locks the schedule's row and reads it again
        await syncSchedule(o, ...named);
        deleted++;
      }
      return `${deleted} were deleted.`;
    },
  };
}

const hasRow = async ({ db }: Stores, [topic, name]: Named) =>
  (await db.run('get_schedule', { topic, name })).length > 0;
