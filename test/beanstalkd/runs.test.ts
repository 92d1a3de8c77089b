import { expect, test } from 'vitest';
import { eventually, repeat } from '../support/client.ts';
import { numberOf, startTubes } from './system.ts';
import type { Wire } from './wire.ts';

const { api, at, sql } = await startTubes();
const MANY = 100;

const many = (line: (n: number) => string) => repeat(MANY, (n) => `${line(n)}\r\n`).join('');

async function replies(wire: Wire): Promise<string[]> {
  const all: string[] = [];
  while (all.length < MANY) all.push(await wire.reply());
  return all;
}

/** In how many statements these were done: each is a transaction. */
async function statements(tube: string, type: string): Promise<{ jobs: number; statements: number } | undefined> {
  const [row] = await sql<{ jobs: number; statements: number }>(
    `select count(*)::integer as jobs, count(distinct e.xmin::text)::integer as statements
       from event e join item i on i.kind = e.kind and i.id = e.item_id where i.queue = $1 and e.type = $2`,
    [tube, type],
  );
  return row;
}

test('S3.8 a run of pipelined commands of one sort is one statement, answered in order', async () => {
  const wire = await at('run');
  const run = async (line: (n: number) => string, type: string) => {
    wire.send(many(line));
    const got = await replies(wire);
    const done = await statements('run', type);
    expect(done?.jobs).toBe(MANY);
    // the socket may cut a run in pieces
    expect(done?.statements).toBeLessThan(10);
    return got;
  };
  const numbers = (await run((n) => `put ${MANY - n} 0 60 2\r\n${10 + (n % 90)}`, 'created')).map(numberOf);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  const reserved = (await run(() => 'reserve-with-timeout 0', 'reserved')).map(numberOf);
  expect(reserved).toEqual([...numbers].reverse());
  expect(new Set(await run((n) => `bury ${numbers[n]} 5`, 'buried'))).toEqual(new Set(['BURIED\r\n']));
  expect(await wire.ask(`kick ${MANY}`)).toBe(`KICKED ${MANY}\r\n`);
  wire.send(many(() => 'reserve'));
  expect((await replies(wire)).map(numberOf)).toEqual(numbers);
  expect(new Set(await run((n) => `release ${numbers[n]} 9 0`, 'released'))).toEqual(new Set(['RELEASED\r\n']));
  expect(new Set(await run((n) => `delete ${numbers[n]}`, 'deleted'))).toEqual(new Set(['DELETED\r\n']));
});

test('S3.8 jobs buried in a run are kicked in the order in which they were buried', async () => {
  const wire = await at('buried');
  wire.send(many(() => 'put 0 0 60 0\r\n'));
  const numbers = (await replies(wire)).map(numberOf);
  wire.send(many(() => 'reserve'));
  await replies(wire);
  const mixed = numbers.map((_, n) => numbers[(n * 37) % MANY] ?? 0);
  wire.send(many((n) => `bury ${mixed[n]} 0`));
  await replies(wire);
  for (const number of mixed.slice(0, 5)) {
    expect(await wire.ask('kick 1')).toBe('KICKED 1\r\n');
    expect(await wire.ask('reserve')).toContain(`RESERVED ${number} `);
  }
});

test('S3.8 reserves sent ahead are answered as far as there are jobs, the next one waits', async () => {
  const [wire, other] = [await at('ahead'), await at('ahead')];
  const numbers = [numberOf(await other.put('a')), numberOf(await other.put('b'))];
  wire.send('reserve\r\nreserve\r\nreserve\r\nreserve-with-timeout 0\r\nreserve-with-timeout 0\r\n');
  expect([numberOf(await wire.reply()), numberOf(await wire.reply())]).toEqual(numbers);
  expect(wire.answered).toBe(false);
  const third = numberOf(await other.put('c'));
  expect(numberOf(await wire.reply())).toBe(third);
  expect([await wire.reply(), await wire.reply()]).toEqual(['TIMED_OUT\r\n', 'TIMED_OUT\r\n']);
});

test('S3.8 of a connection that is cut off in a run, what was acknowledged is kept and what was reserved comes back', async () => {
  const watch = await at('watch');
  for (let round = 0; round < 5; round++) {
    const tube = `cut-${round}`;
    const wire = await at(tube);
    wire.send(
      many(() => 'put 0 0 600 1\r\nx') + many(() => 'reserve-with-timeout 0') + many(() => 'put 0 0 600 1\r\ny'),
    );
    const acknowledged: number[] = [];
    const seen = round * 40;
    for (let n = 0; n < seen; n++) {
      const reply = await wire.reply();
      if (reply.startsWith('INSERTED')) acknowledged.push(numberOf(reply));
    }
    wire.close();
    // the other one is gone when all it had reserved has been given back
    await eventually(async () => (await watch.ask('stats')).includes('\ncurrent-connections: 1\n'));
    expect((await api.get(`/v1/topics/${tube}/stats`)).body).toMatchObject({ reserved: 0, delayed: 0, buried: 0 });
    const kept = await sql<{ seq: string }>(`select seq from item where queue = $1 and state = 'ready'`, [tube]);
    expect(kept.map((row) => Number(row.seq))).toEqual(expect.arrayContaining(acknowledged));
  }
});
