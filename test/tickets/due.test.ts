import { expect, test } from 'vitest';
import { numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';
import { inMs } from '../support/times.ts';

// No worker: what is due is done by the pacemaker or by the call that chooses, and once by that alone.
const clocked = (pacemaker: string) => startTestSystem({ DOCKET_PACEMAKER: pacemaker }, { role: 'api' });
const systems = [
  ['beside the pacemaker', await clocked('on')],
  ['without a clock', await clocked('off')],
] as const;
type System = Awaited<ReturnType<typeof clocked>>;

const ITEMS = byNight(100, 30);
/** Looks are made by so many at once. */
const LOOKERS = 4;
const LATER_MS = 3;

/** Looks at each item 3 ms after it is due by the database's clock. @returns those for which it was not done */
async function staleOf(
  { sql }: System,
  items: { name: string; dueAt: string }[],
  look: (name: string) => Promise<boolean>,
) {
  const left = items.toSorted((a, b) => (a.dueAt < b.dueAt ? -1 : 1));
  const stale: string[] = [];
  const work = async () => {
    for (let item = left.shift(); item; item = left.shift()) {
      await sql(`select pg_sleep(extract(epoch from $1::timestamptz + $2 * interval '1 ms' - clock_timestamp()))`, [
        item.dueAt,
        LATER_MS,
      ]);
      if (!(await look(item.name))) stale.push(item.name);
    }
  };
  await Promise.all(repeat(LOOKERS, work));
  return stale;
}

const some = (base: number) => base + Math.random();
const inParts = <T>(names: string[], work: (name: string) => Promise<T>) =>
  names.reduce<Promise<T[]>>(async (before, name) => [...(await before), await work(name)], Promise.resolve([]));

test.each(systems)('S0.2 %s an escalation orders the claim that comes 3 ms after it', async (_, system) => {
  const { add, claim, configure } = system.api.tickets;
  const items = await inParts(numbered(ITEMS, 'step-'), async (name) => {
    const seconds = some(2);
    await configure(name, { escalations: [{ afterSeconds: seconds, priority: 9 }] });
    const { createdAt } = await add(name, { id: `${name}-low` });
    await add(name, { id: `${name}-high`, priority: 5 });
    return { name, dueAt: inMs(seconds * 1_000, createdAt) };
  });
  const isFirst = async (name: string) => (await claim(name, 'anna')).tickets[0]?.id === `${name}-low`;
  expect(await staleOf(system, items, isFirst)).toEqual([]);
});

test.each(systems)('S0.3 %s a delayed ticket is in the claim that comes 3 ms after its delay', async (_, system) => {
  const { add, eventTypes, stats } = system.api.tickets;
  const items = await inParts(numbered(ITEMS, 'soon-'), async (name) => ({
    name,
    dueAt: (await add(`q-${name}`, { id: name, priority: 1, delaySeconds: some(1.5) })).availableAt as string,
  }));
  const isHanded = async (name: string) => {
    const claimed = await system.api.post('/v1/claim', { queues: ['q-none', `q-${name}`], reviewer: 'anna' });
    return claimed.body.tickets[0]?.id === name;
  };
  expect(await staleOf(system, items, isHanded)).toEqual([]);
  expect(await eventTypes('soon-0')).toEqual(['created', 'available', 'claimed']);
  expect(await stats('q-soon-0')).toMatchObject({ delayed: 0, waiting: 0, held: 1 });
});

test.each(systems)(
  'S0.3 %s a lease that has ended is of the next 3 ms later, also as the next of a decision',
  async (_, system) => {
    const { add, addHeld, claim, claimOne, configure, decide, eventTypes } = system.api.tickets;
    const items = await inParts(numbered(ITEMS, 'lease-'), async (name) => {
      await configure(name, { leaseSeconds: some(2) });
      const { lease } = await addHeld(name, name);
      await add(`${name}-other`);
      return { name, dueAt: lease.expiresAt as string };
    });
    const isHanded = async (name: string) => {
      if (Number(name.slice(-1)) % 2 === 0) return (await claim(name, 'ben')).tickets[0]?.id === name;
      const held = await claimOne(`${name}-other`, 'ben');
      return (await decide(held, 'ok', { next: true, queues: [name] })).body.next?.id === name;
    };
    expect(await staleOf(system, items, isHanded)).toEqual([]);
    for (const name of ['lease-0', 'lease-1'])
      expect((await eventTypes(name)).slice(0, 4)).toEqual(['created', 'claimed', 'reclaimed', 'claimed']);
  },
);

test.each(systems)(
  'S3.1 S3.3 %s a job is in the pop that comes 3 ms after its delay or its TTR, first by priority',
  async (_, system) => {
    const { job, oneJob } = system.api.jobs;
    const items = await inParts(numbered(ITEMS, 'job-'), async (name) => {
      await job('add', { topic: name, id: `${name}-other`, priority: 5, delay: 0, body: 1 });
      const ends = Number(name.slice(-1)) % 2 === 0;
      await job('add', { topic: name, id: name, priority: 1, delay: ends ? 0 : some(2), TTR: ends ? 2 : 60, body: 1 });
      if (ends) await job('pop', { topic: name });
      const { availableAt, reservedUntil } = await oneJob(name);
      return { name, dueAt: (ends ? reservedUntil : availableAt) as string };
    });
    const isPopped = async (name: string) => (await job('pop', { topic: name })).id === name;
    expect(await staleOf(system, items, isPopped)).toEqual([]);
  },
);

test.each(systems)(
  'S2.5 S4.3 %s a hold that has ended leaves its case, and a task is handed out, 3 ms after',
  async (_, system) => {
    const { cases, tasks } = system.api;
    await tasks.addTemplate('plain');
    const items = await inParts(numbered(ITEMS / 5, 'both-'), async (name) => {
      const startTime = inMs(some(2) * 1_000);
      await tasks.addTask({ id: name, executor: `uid_${name}`, startTime });
      return { name, dueAt: startTime };
    });
    const isNext = async (name: string) => (await tasks.next(name)).task?.id !== undefined;
    expect(await staleOf(system, items, isNext)).toEqual([]);

    const held = await inParts(numbered(ITEMS / 5, 'hold-'), async (name) => {
      await cases.openCourt(name, { votesToWin: 1, leaseSeconds: some(1.5) }, ['ann', 'ben']);
      return { name, dueAt: (await cases.claim(name, 'ann')).lease.expiresAt as string };
    });
    expect(await staleOf(system, held, async (name) => (await cases.claim(name, 'ben')).case !== null)).toEqual([]);
  },
);

test('S0.3 of a crowd that is due at once a claim does a hundred; those come by priority', async () => {
  const [, [, { api, cell }]] = systems;
  const { addMany, claim, stats } = api.tickets;
  await addMany(
    'crowd',
    repeat(250, (n) => ({ id: `crowd-${n}`, priority: n % 100, delaySeconds: 0.5 })),
  );
  await cell('select pg_sleep(0.6)');
  for (const [reviewer, delayed] of Object.entries({ anna: 150, ben: 50, cleo: 0 })) {
    const [{ priority }] = (await claim('crowd', reviewer)).tickets;
    expect((await stats('crowd')).delayed).toBe(delayed);
    const greatest = await cell("select max(priority)::int from item where queue = 'crowd' and state = 'ready'");
    expect(priority).toBeGreaterThanOrEqual(greatest);
  }
});
