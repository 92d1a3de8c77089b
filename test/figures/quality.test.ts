import { expect, test } from 'vitest';
import type { FeedEvent } from '../../contract/feed.ts';
import { kappa, type Pair, wilson } from '../../domain/quality.ts';
import { dice, type Json, numbered } from '../support/client.ts';
import { csvRows } from '../support/csv.ts';
import { wholeFeed } from '../support/feed.ts';
import { startTestSystem } from '../support/system.ts';

/** κ in fractions, from the two lists of labels. */
function exactKappa(pairs: [string, string][]): number | null {
  const n = BigInt(pairs.length);
  const agreed = BigInt(pairs.filter(([a, b]) => a === b).length);
  const labels = [...new Set(pairs.flat())];
  const count = (at: 0 | 1, label: string) => BigInt(pairs.filter((pair) => pair[at] === label).length);
  const byChance = labels.reduce((sum, label) => sum + count(0, label) * count(1, label), 0n);
  return n * n === byChance ? null : Number(n * agreed - byChance) / Number(n * n - byChance);
}

const counted = (pairs: [string, string][]): Pair[] => pairs.map(([a, b]) => [a, b, 1]);

test('B.2 κ is that of the textbook, and on real ratings that of fractions', () => {
  // Cohen's example: 20 and 15 of 50 agree
  const cohen: Pair[] = [
    ['y', 'y', 20],
    ['y', 'n', 5],
    ['n', 'y', 10],
    ['n', 'n', 15],
  ];
  expect(kappa(cohen)).toBeCloseTo(0.4, 12);
  expect(kappa([['y', 'y', 3]])).toBeNull();
  expect(kappa([])).toBeNull();
  const byItem = new Map<string, string[]>();
  for (const [item = '', , answer = ''] of csvRows('moderation-ratings.csv'))
    byItem.set(item, [...(byItem.get(item) ?? []), answer]);
  const pairs = [...byItem.values()].flatMap(([one, other]): [string, string][] =>
    one !== undefined && other !== undefined ? [[one, other]] : [],
  );
  expect(pairs.length).toBeGreaterThan(100);
  expect(kappa(counted(pairs))).toBeCloseTo(exactKappa(pairs) ?? Number.NaN, 12);
});

test('B.2 the interval is that of Wilson', () => {
  // R: binom::binom.confint(7, 50, methods = "wilson")
  expect(wilson(7, 50).value).toBe(0.14);
  expect(wilson(7, 50).low).toBeCloseTo(0.0695, 4);
  expect(wilson(7, 50).high).toBeCloseTo(0.26188, 4);
  expect(wilson(0, 0)).toEqual({ value: null, low: 0, high: 1 });
  expect([wilson(0, 10).low, wilson(10, 10).high]).toEqual([0, 1]);
});

/** The same figures by what the feed alone says. */
function fromFeed(events: FeedEvent[]) {
  const items = new Map<string, Json>();
  for (const { itemId, type, actor, at, data } of events as Json[]) {
    const item = items.get(itemId) ?? {};
    items.set(itemId, item);
    if (type === 'created') item.queue = data.queue;
    if (type === 'claimed') Object.assign(item, { holder: actor, claimed: Date.parse(at) });
    if (type === 'decided' && actor === item.holder && data.reason === undefined)
      Object.assign(item, { by: actor, decision: data.decision, seconds: (Date.parse(at) - item.claimed) / 1000 });
    if (type === 'overturned' && item.outcome !== 'overturned')
      Object.assign(item, { outcome: type, other: data.decision });
    if (type === 'upheld' && item.outcome === undefined) Object.assign(item, { outcome: type, other: data.decision });
  }
  const people = new Map<string, Json[]>();
  for (const item of items.values())
    if (item.queue === 'q' && item.by) people.set(item.by, [...(people.get(item.by) ?? []), item]);
  return [...people].map(([reviewer, all]) => {
    const looked = all.filter(({ outcome }) => outcome);
    const label = ({ v }: Json) => String(v);
    return {
      ...{ reviewer, decided: all.length, looked: looked.length, n: looked.length },
      overturned: looked.filter(({ outcome }) => outcome === 'overturned').length,
      kappa: exactKappa(looked.map(({ decision, other }) => [label(decision), label(other)])),
    };
  });
}

test('B.2 the quality of people is what the feed says of their decisions and of the looks at them', async () => {
  const { api, keyed } = await startTestSystem({}, { role: 'api' });
  const { addMany, claim, configure, decide, decided } = api.tickets;
  const random = dice(7);
  await configure('q', { maxHeld: 10, second: { share: 0.4, compare: ['/v'] } });
  await addMany('q', numbered(120, 'q'));
  const people = ['anna', 'ben', 'carl', 'dora'];
  for (let empty = 0; empty < people.length; ) {
    const reviewer = people[random(people.length)] ?? '';
    const { tickets } = await claim('q', reviewer, { count: 5 });
    empty = tickets.length === 0 ? empty + 1 : 0;
    for (const held of tickets)
      await decide(held, { v: random(3) === 0 ? 'remove' : 'keep', note: `${random(9)} by ${reviewer}` });
  }
  for (const id of ['q1', 'q2', 'q3', 'q4']) {
    await api.post(`/v1/tickets/${id}/looks`, { cause: 'overturn', by: 'lead', decision: { v: 'remove' } });
    await api.post(`/v1/tickets/${id}/looks`, { cause: 'appeal', by: 'author' });
  }
  await api.post('/v1/tickets/q5/resolve', { decision: { v: 'x' }, reason: 'not open any more' });
  await decided('elsewhere');

  const answer = await api.get('/v1/queues/q/quality');
  const { items } = answer.body;
  const expected = fromFeed((await wholeFeed(api)).filter(({ kind }) => kind === 'ticket'));
  const byName = <T extends { reviewer: string }>(all: T[]) =>
    all.toSorted((a, b) => (a.reviewer < b.reviewer ? -1 : 1));
  expect(byName(items)).toMatchObject(byName(expected).filter(({ reviewer }) => reviewer !== 'lead'));
  expect(expected.some(({ overturned, n }) => overturned > 0 && overturned < n)).toBe(true);
  for (const { overturned, looked, upheld, overturnRate, secondsMedian } of items) {
    expect(upheld + overturned).toBe(looked);
    expect(overturnRate).toEqual(wilson(overturned, looked));
    expect(secondsMedian).toBeGreaterThan(0);
  }
  const backwards = 'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z';
  const queue = ['quality?', 'quality.csv?', 'service?', 'suggestions/figures?'].map((one) => `queues/q/${one}`);
  for (const path of [...queue, 'figures?kind=ticket&', 'figures/people?', 'figures/lateness?kind=job&']) {
    const { status, body } = await api.get(`/v1/${path}${backwards}`);
    expect([path, status, body.errors?.[0]]).toEqual([path, 422, { path: 'from', message: 'must be before to' }]);
  }
  const { body: table, headers } = await api.raw('GET', '/v1/queues/q/quality.csv');
  expect(headers.get('content-disposition')).toBe('attachment; filename="quality.csv"');
  const [first, ...lines] = String(table).trim().split('\r\n');
  expect(first?.split(',')).toContain('kappa');
  expect(lines).toHaveLength(items.length);
  expect(lines[0]?.startsWith(`"${items[0].reviewer}","",${items[0].decided},`)).toBe(true);
  // nothing was decided before it began
  expect((await api.get('/v1/queues/q/quality?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).body.items).toEqual(
    [],
  );
  expect((await api.get('/v1/queues/none/quality')).status).toBe(404);
  expect((await (await keyed('supervisor')).get('/v1/queues/q/quality')).status).toBe(200);
  for (const role of ['producer', 'agent'] as const)
    expect((await (await keyed(role)).get('/v1/queues/q/quality')).status).toBe(403);
});
