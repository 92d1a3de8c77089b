import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_PRIORITY } from '../../contract/jobs.ts';
import { openDb } from '../../db/pool.ts';
import { PopFloors } from '../../services/jobs/pop-floors.ts';
import { newToken } from '../../services/shared/tokens.ts';
import { eventually, repeat } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api } = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api', stores });
const db = openDb({ url: stores.databaseUrl, node: 'pop-floors', max: 1 });
afterAll(() => db.end());

async function command(name: string, fields: object): Promise<void> {
  expect((await api.jobs.job(name, fields)).success).not.toBe(false);
}

/** Pops as a process does that finds all of its pops slow. `floors`: where they began, null: at the first job */
function popper(topic: string, all = new PopFloors(db, { slowMs: 0, worthMs: 0, leastMs: 0 })) {
  const floors: (number | null)[] = [];
  const pop = (count = 1) =>
    all.pop([topic], async (floor) => {
      floors.push(floor?.[1] ?? null);
      const tokens = Array.from({ length: count }, newToken);
      const params = { topics: [topic], tokens, holders: tokens.map(() => 'h'), floor };
      const rows = await db.move('pop_jobs', params, { moved: () => [] });
      return rows.filter(({ lease_id: token }) => token !== null);
    });
  return { floors, pop };
}

interface Job {
  id: string;
  number: number;
  priority: number;
  state: 'ready' | 'reserved' | 'buried' | 'over';
  token: string;
}

const STEP = fc.oneof(
  fc.record({
    what: fc.constant('add' as const),
    n: fc.constantFrom(1, 3),
    urgent: fc.constantFrom(0, 0, 0, -1, 1),
    delay: fc.constantFrom(0, 0, 0.01),
  }),
  fc.record({ what: fc.constant('pop' as const), n: fc.constantFrom(1, 2, 4) }),
  fc.record({
    what: fc.constantFrom('release' as const, 'bury' as const, 'finish' as const, 'kick' as const),
    n: fc.nat(9),
  }),
);

test('S3.1 S3.8 pops that begin behind what was popped keep the order, whatever is added or comes back', async () => {
  let [runs, begunBehind] = [0, 0];
  const property = fc.asyncProperty(fc.array(STEP, { minLength: 40, maxLength: 40 }), async (steps) => {
    const topic = `order-${runs++}`;
    const { pop, floors } = popper(topic);
    const jobs: Job[] = [];
    const inState = (state: Job['state']) => jobs.filter((job) => job.state === state);
    for (const step of steps) {
      if (step.what === 'add') {
        const priority = DEFAULT_PRIORITY + step.urgent;
        for (let n = 0; n < step.n; n++)
          jobs.push({ id: `${topic}-${jobs.length}`, number: jobs.length, priority, state: 'ready', token: '' });
        const added = jobs.slice(-step.n).map(({ id }) => ({ topic, id, body: 1, priority, delay: step.delay }));
        await command('add', { jobs: added });
        await sleep(step.delay * 2_000); // no clock comes by: a pop takes those that are due
      } else if (step.what === 'pop') {
        const popped = await pop(step.n);
        const first = inState('ready')
          .sort((a, b) => a.priority - b.priority || a.number - b.number)
          .slice(0, step.n);
        expect(popped.map(({ id }) => id).sort()).toEqual(first.map(({ id }) => id).sort());
        for (const job of first)
          Object.assign(job, { state: 'reserved', token: popped.find(({ id }) => id === job.id)?.lease_id });
      } else {
        const from = inState(step.what === 'kick' ? 'buried' : 'reserved');
        const job = from[step.n % Math.max(1, from.length)];
        if (!job) continue;
        await command(step.what, { id: job.id, ...(step.what !== 'kick' && { token: job.token }) });
        job.state = ({ release: 'ready', bury: 'buried', finish: 'over', kick: 'ready' } as const)[step.what];
      }
    }
    begunBehind += floors.filter((floor) => floor !== null).length;
  });
  await fc.assert(property, { numRuns: 15, seed: 7 });
  expect(begunBehind).toBeGreaterThan(50);
});

test('S3.1 a job whose number was drawn before, and that is committed after later ones were popped, is handed out', async () => {
  const { pop, floors } = popper('late');
  await command('add', { topic: 'model', id: 'model', body: 1 });
  await onDatabase(stores.databaseUrl, async (late) => {
    for (let n = 0; n < 5; n++) {
      await late.query('begin');
      await late.query(`insert into item (kind, id, queue, state, rank, priority, body, content_hash, lease_seconds, version,
        event_seq, last_event, last_actor, created_at, available_at, first_available_at, updated_at)
      select kind, 'late-${n}', 'late', state, rank, priority, body, content_hash, lease_seconds, nextval('item_version'),
             1, 'created', 'x', t.now, t.now, t.now, t.now
        from item, (select clock_timestamp() as now) t where kind = 'job' and id = 'model'`);
      await command('add', { topic: 'late', id: `second-${n}`, body: 1 });
      for (let again = 0; again < 6; again++) await pop();
      await late.query('commit');
      expect((await pop()).map(({ id }) => id)).toEqual([`late-${n}`]);
    }
  });
  expect(floors.filter((floor) => floor !== null).length).toBeGreaterThan(5);
});

test('S3.1 beside a transaction that stays open, such a pop does not go past all that was popped since', async () => {
  await onDatabase(stores.databaseUrl, async (open) => {
    await open.query('begin isolation level repeatable read; select count(*) from item');
    const { pop, floors } = popper('aged');
    for (let n = 0; n < 4; n++) {
      const jobs = repeat(1_000, (i) => ({ topic: 'aged', id: `aged-${n}-${i}`, body: 1 }));
      await command('add', { jobs });
      const popped = await pop(1_000);
      expect(popped).toHaveLength(1_000);
      await command('finish', { jobs: popped.map(({ id, lease_id: token }) => ({ id, token })) });
      // of which statistics know: a planner then thinks that a topic has few ready ones, whichever index it goes by
      await command('add', { topic: 'other', id: `other-${n}`, body: 1 });
    }
    const { number } = (await db.run('last_item_number', undefined))[0] ?? { number: 0 };
    await eventually(async () => (await pop()).length === 0 && floors.at(-1) === number);
    const read = async (floor: string | null) => {
      const { rows } = await db.pool.query(
        `explain (analyze, buffers, format json) select * from pop_jobs('{aged}', '{t}', '{h}', null, $1::bigint[])`,
        [floor],
      );
      return rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'] as number;
    };
    const behind = `{${DEFAULT_PRIORITY},${number}}`;
    for (const statistics of ['', 'analyze item']) {
      await db.pool.query(statistics);
      // the first time its statements are planned
      for (const floor of [null, behind]) await read(floor);
      expect((await read(behind)) * 3, statistics).toBeLessThan(await read(null));
    }
  });
});

test('S3.1 pops that are slow because all answers are late begin at the first job, as that takes less of the database', async () => {
  const run = (async (name: 'last_item_number', params: undefined) => {
    await sleep(20);
    return db.run(name, params);
  }) as typeof db.run;
  const { pop, floors } = popper('busy', new PopFloors({ run }, { slowMs: 0, leastMs: 0 }));
  for (let n = 0; n < 20; n++) {
    await command('add', { topic: 'busy', id: `busy-${n}`, body: 1 });
    expect(await pop()).toHaveLength(1);
    await sleep(50);
  }
  expect(floors.every((floor) => floor === null)).toBe(true);
});
