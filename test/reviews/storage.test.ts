import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { eventually, type Json } from '../support/client.ts';
import { opened, type Received, startReceiver } from '../support/receiver.ts';
import { logOf, put, tell } from '../support/reviews.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem();
const CALLBACKS = 20;
const MEGABYTE = 1_000_000;

/** Bytes of all tables and of what is stored beside them. */
async function stored(): Promise<number> {
  const tables = [
    'review',
    'review_index',
    'review_base',
    'review_callback',
    'review_body',
    'delivery',
    'event',
    'tally',
  ];
  const [row] = await sql<{ bytes: string }>(
    'select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = $1 and relname = any ($2)',
    ['r', tables],
  );
  return Number(row?.bytes);
}

test('S1.8 twenty callbacks for a review with a body of 7 MB store less than one body', async () => {
  const { callback, received } = await startReceiver();
  const body = { words: randomBytes(5.25 * MEGABYTE).toString('base64') };
  await put(api, 'large', { text: { status: 1 }, body, callback });
  const before = await stored();
  for (let status = 2; status < 2 + CALLBACKS; status++) await tell(api, 'large', { kind: 'text', status });
  const perCallback = ((await stored()) - before) / CALLBACKS;
  expect(perCallback).toBeLessThan(MEGABYTE / CALLBACKS);
  await eventually(async () => received.length === CALLBACKS, 60_000);
  expect(opened(received[0] as Received).review).toMatchObject({ status: 2, body });
}, 120_000);

test('S1.9 a message that is delivered late, or again, has the review as it was: targets, statuses, times, body', async () => {
  let up = false;
  const { callback, received } = await startReceiver(() => (up ? 204 : 503));
  const one = (words: string, ...pictures: string[]) => ({
    ...{ text: { status: 1 }, body: { words }, callback },
    pictures: pictures.map((p) => ({ id: `then-${p}`, status: 1 })),
  });
  const seen: Json[] = [];
  const note = async () => seen.push((await api.get('/v1/reviews/then')).body);
  await put(api, 'then', one('first', 'a', 'b'));
  const audit = async (target: object, status: number) => {
    await tell(api, 'then', { ...target, status });
    await note();
  };
  await audit({ kind: 'picture', targetId: 'then-a' }, 2);
  await audit({ kind: 'text' }, 3);
  await put(api, 'then', one('second', 'b', 'a', 'c'), 200);
  await note();
  await audit({ kind: 'picture', targetId: 'then-a' }, 4);
  await put(api, 'then', one('third', 'c', 'a'), 200);
  await note();
  await audit({ kind: 'picture', targetId: 'then-c' }, 5);
  await put(api, 'then', one('third', 'c', 'b'), 200);
  await note();
  await audit({ kind: 'picture', targetId: 'then-b' }, 6);
  up = true;
  const delivered = () => [...new Map(received.map(opened).map((m: Json) => [m.version, m.review])).values()];
  await eventually(async () => delivered().length === seen.length, 60_000);
  expect(delivered()).toEqual(seen);
  const log = await logOf(api, 'then');
  const targets = ({ text, pictures, replies }: Json) => ({
    ...{ text, replies },
    pictures: pictures.map(({ position: _, ...p }: Json) => p),
  });
  expect(log.map((l) => l.after)).toEqual(seen.map(targets));
  expect(log.slice(1).map((l) => l.before)).toEqual(seen.slice(0, -1).map(targets));

  const count = received.length;
  const { items } = (await api.get('/v1/reviews/then/deliveries?limit=500')).body;
  const second = items.find((d: Json) => d.version === seen[1]?.version);
  await eventually(async () =>
    (await api.get('/v1/reviews/then/deliveries')).body.items.every((d: Json) => d.state === 'delivered'),
  );
  await api.post(`/v1/reviews/then/deliveries/${second.n}/redeliver`);
  await eventually(async () => received.length > count);
  expect(opened(received.at(-1) as Received).review).toEqual(seen[1]);
}, 120_000);
