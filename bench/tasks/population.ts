import type { NewTask } from '../../contract/tasks.ts';
import type { TaskRow } from '../../db/statements.ts';
import { contentHash } from '../../services/shared/tokens.ts';
import { type Caller, need, openCallers } from '../client.ts';
import { type Lab, withoutWorkflows } from '../lab.ts';
import { short } from '../stats.ts';

export const GROUP_SIZE = 20;
const TASKS_A_GROUP = 10;
/** The last task of a group is for one of its members alone, the one before it is blocking. */
const PERSONAL = TASKS_A_GROUP - 1;
const BLOCKING = TASKS_A_GROUP - 2;
export const DISPATCH_TIMES = 6;
/** One group in so many has nothing due before tomorrow. */
const IDLE_EVERY = 10;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SEED_BATCH = 500;
const CALLERS = 16;
const TEMPLATE = 'visit';

export interface BenchTask {
  id: string;
  /** Of whose clients it is. */
  group: number;
  executor: string;
  startTime: Date;
  dispatch: NewTask['dispatch'];
  dispatchTimes: number;
  params: { revision: number; place: string };
}

/** Who there is and what there is to do, the same for both sides. */
export interface Population {
  groups: number;
  clients: number;
  tasks: BenchTask[];
}

export const uidOf = (client: number) => `c${client}`;
export const gidOf = (group: number) => `g${group}`;
export const isIdle = (group: number) => group % IDLE_EVERY === 0;
export const membersOf = (group: number) => Array.from({ length: GROUP_SIZE }, (_, n) => uidOf(group * GROUP_SIZE + n));

export function populate(groups: number): Population {
  const now = Date.now();
  const tasks = Array.from({ length: groups * TASKS_A_GROUP }, (_, n): BenchTask => {
    const [group, k] = [Math.floor(n / TASKS_A_GROUP), n % TASKS_A_GROUP];
    const start = isIdle(group) ? now + DAY_MS : now - (TASKS_A_GROUP - k) * MINUTE_MS;
    return {
      ...{ id: `t${group}-${k}`, group, startTime: new Date(start) },
      executor: k === PERSONAL ? `uid_${uidOf(group * GROUP_SIZE)}` : `gid_${gidOf(group)}`,
      dispatch: k === BLOCKING ? 'blocking' : 'each-once',
      dispatchTimes: k === PERSONAL ? 1 : DISPATCH_TIMES,
      params: { revision: 0, place: `number ${n}` },
    };
  });
  return { groups, clients: groups * GROUP_SIZE, tasks };
}

/** Brings groups over HTTP and tasks by the function that `POST /v1/tasks` calls; their workflows are taken as told. */
export async function settleIn(lab: Lab, { groups, tasks }: Population): Promise<void> {
  const docket = await lab.docket();
  const start = performance.now();
  const params = { revision: { type: 'number' }, place: { type: 'string' } };
  await inParallel(docket.url, 1, async (caller) => {
    need(await caller.post('/v1/templates', { id: TEMPLATE, name: TEMPLATE, params }), 201);
  });
  await inParallel(docket.url, groups, async (caller, n) => {
    need(await caller.put(`/v1/groups/${gidOf(n)}`, { members: membersOf(n) }), 200);
  });
  await docket.stop();
  const brought = performance.now();
  await seedTasks(lab, tasks.map(once));
  lab.say(
    `  ${short(groups)} groups of ${GROUP_SIZE} after ${short((brought - start) / 1000)} s, ` +
      `${short(tasks.length)} tasks ${short((performance.now() - brought) / 1000)} s later`,
  );
}

/** Does something so many times, with several callers. */
export async function inParallel(url: string, n: number, one: (caller: Caller, n: number) => Promise<void>) {
  const callers = await openCallers(url, Math.min(n, CALLERS));
  let next = 0;
  const work = async (caller: Caller) => {
    for (let k = next++; k < n; k = next++) await one(caller, k);
  };
  await Promise.all(callers.map(work));
  for (const caller of callers) caller.close();
}

/** As `POST /v1/tasks` writes them. */
export async function seedTasks(lab: Lab, tasks: NewRow[]): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < tasks.length) {
      const batch = tasks.slice(next, next + SEED_BATCH);
      next += SEED_BATCH;
      await lab.sql(
        "select count(*) from json_array_elements($1::json) x cross join lateral add_task(x.value, 1000, 'bench') a",
        [JSON.stringify(batch)],
      );
    }
  };
  await withoutWorkflows(lab, () => Promise.all([work(), work()]));
  for (const table of ['item', 'event', 'task', 'member', 'lease']) await lab.sql(`vacuum analyze ${table}`);
}

const once = (task: BenchTask): NewRow => toBe({ ...task, type: 'once', everyMinutes: null });

/** A task as `add_task` reads it. */
type NewRow = Partial<Omit<TaskRow, 'content_hash'>> & { content_hash: string };
type Given = Omit<BenchTask, 'group'> & Pick<NewTask, 'type' | 'everyMinutes'>;

export function toBe({ id, executor, startTime, everyMinutes, dispatch, dispatchTimes, params, type }: Given): NewRow {
  return {
    ...{ id, type, executor, queue: executor, start_time: startTime, every_minutes: everyMinutes, dispatch, params },
    ...{ dispatch_times: dispatchTimes, template_id: TEMPLATE, content_hash: `\\x${contentHash({ id })}` },
    ...{
      daily_time: null,
      every_days: 1,
      timezone: 'UTC',
      catch_up: 'all',
      lookback_seconds: 86_400,
      max_lookback_seconds: null,
    },
    ...{ answer_seconds: null, end_time: null, callback: null },
  };
}

/** The same as a body of `POST /v1/tasks`. */
export const sentTask = ({ group, ...task }: BenchTask) => ({ ...task, type: 'once', templateId: TEMPLATE });
