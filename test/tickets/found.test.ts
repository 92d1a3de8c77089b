import { connect } from 'node:net';
import { beforeAll, expect, test, vi } from 'vitest';
import { dice, eventually, insist, type Json, numbered, repeat, walk } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { loader } from '../support/plans.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, running, sql } = await startTestSystem({}, { role: 'api' });
const { add, configure, decide, operate } = api.tickets;

type Filter = Record<string, string>;

const MANY = byNight(50_000, 20_000);
const QUEUES = ['f-0', 'f-1', 'f-2'];
const PEOPLE = ['anna', 'ben', '陈 明'];
const CATEGORIES = ['spam', 'abuse'];
const DECISIONS = [
  'keep',
  'remove',
  { verdict: 'keep' },
  { verdict: 'remove', why: 'spam' },
  { verdict: 2 },
  [1],
  7,
  null,
];
const BODIES = [{ text: 'buy now' }, '=1+1', '-2', 'a "quoted"\r\nline, and more', { deep: [{ text: '@x' }] }, null, 5];

/** Tickets in all states: decided by people, from outside, by and with models, some overturned. */
async function fill(n: number): Promise<void> {
  const roll = dice(41);
  const pick = <T>(from: T[]) => from[roll(from.length)] as T;
  for (const queue of QUEUES) await configure(queue, { maxHeld: 100 });
  for (const id of numbered(n, 'f-')) {
    const queue = pick(QUEUES);
    const more = { ...(roll(2) && { subject: `u${roll(4)}` }), ...(roll(2) && { category: pick(CATEGORIES) }) };
    await add(queue, { id, body: pick(BODIES), ...more, ...(roll(9) === 0 && { delaySeconds: 900 }) });
    const act = roll(10);
    if (act > 2 && act < 8) {
      const mode = ['off', 'suggest', 'auto'][roll(3)];
      await configure(queue, { maxHeld: 100, assist: { mode, minConfidence: 0.5 } });
      const suggestion = { model: 'm1', decision: pick(DECISIONS), confidence: 0.4 + roll(2) / 2 };
      if (mode !== 'off') await api.post(`/v1/tickets/${id}/suggestions`, suggestion);
      const { tickets } = await api.tickets.claim(queue, pick(PEOPLE), { count: 100 });
      for (const held of tickets.slice(0, 3)) await decide(held, pick(DECISIONS));
    } else if (act === 8) await operate(id, 'resolve', { decision: pick(DECISIONS), reason: 'r' });
    else if (act === 9) await operate(id, 'invalidate');
  }
  const decided = await walk(api, '/v1/tickets?state=decided', 500);
  for (const { id } of decided.filter(() => roll(5) === 0))
    await api.post(`/v1/tickets/${id}/looks`, { cause: 'overturn', by: 'lead', decision: pick(DECISIONS) });
  // open: their originals' decisions are hidden from who is at them
  for (const { id } of decided.filter(() => roll(9) === 0))
    await api.post(`/v1/tickets/${id}/looks`, { cause: 'check', by: 'lead' });
}

const verdictOf = (decision: Json) => {
  const verdict = typeof decision === 'object' && !Array.isArray(decision) ? decision?.verdict : decision;
  return Array.isArray(verdict) || verdict === undefined ? undefined : String(verdict);
};
/** What each filter means, by what a list shows. */
const FITS: Record<string, (ticket: Json, value: string) => boolean> = {
  queue: ({ queue }, value) => queue === value,
  state: ({ state }, value) => state === value,
  reviewer: ({ lease, decidedBy }, value) => (lease?.reviewer ?? decidedBy) === value,
  subject: ({ subject }, value) => subject === value,
  category: ({ category }, value) => category === value,
  order: () => true,
  createdAfter: ({ createdAt }, value) => createdAt > value,
  createdBefore: ({ createdAt }, value) => createdAt < value,
  decidedBy: ({ decidedBy }, value) => decidedBy === value,
  // times are kept to the microsecond, and shown to the millisecond
  decidedAfter: ({ decidedAt }, value) => decidedAt !== null && decidedAt > value.replace('999Z', 'Z'),
  decidedBefore: ({ decidedAt }, value) => decidedAt !== null && decidedAt < value,
  verdict: ({ state, decision }, value) => state === 'decided' && verdictOf(decision) === value,
  automation: ({ automation }, value) => automation === value,
  overturned: ({ id, standing }, value) => standing !== null && String(standing.ticket !== id) === value,
};

let all: Json[] = [];
beforeAll(async () => {
  await fill(byNight(600, 150));
  all = await walk(api, '/v1/tickets', 500);
}, 300_000);

/** A filter of a few fields, whose values are those of some ticket. */
function someFilter(roll: (sides: number) => number): Filter {
  const of = all[roll(all.length)];
  const between = (time: string | null) => time?.replace('Z', '999Z');
  const values: Record<string, string | null | undefined> = {
    ...{ queue: of.queue, state: of.state, reviewer: of.lease?.reviewer ?? of.decidedBy, subject: of.subject },
    ...{ category: of.category, createdAfter: of.createdAt, createdBefore: of.createdAt, decidedBy: of.decidedBy },
    ...{ decidedAfter: between(of.decidedAt), decidedBefore: of.decidedAt, verdict: verdictOf(of.decision) },
    ...{ automation: of.automation, overturned: ['true', 'false'][roll(2)] },
    order: ['oldest', 'newest'][roll(2)],
  };
  const set = Object.entries(values).filter(([, value]) => value && roll(5) === 0) as [string, string][];
  return Object.fromEntries(set);
}

const fitting = (filter: Filter) => {
  const found = all.filter((ticket) => Object.entries(filter).every(([name, value]) => FITS[name]?.(ticket, value)));
  return filter.order === 'oldest' ? found.reverse() : found;
};
const ids = (tickets: Json[]) => tickets.map(({ id }) => id);

test('S4.9 each filter of tickets, and all together, give what a filter over the whole list gives, page by page', async () => {
  const roll = dice(42);
  const met = new Set<string>();
  const check = async (filter: Filter) => {
    const wanted = ids(fitting(filter));
    if (wanted.length > 0) for (const name of Object.keys(filter)) met.add(name);
    const found = await walk(api, `/v1/tickets?${new URLSearchParams(filter)}`, 1 + roll(40), false);
    expect([filter, ids(found)]).toEqual([filter, wanted]);
  };
  for (const [name, values] of Object.entries({
    automation: ['none', 'partial', 'full'],
    overturned: ['true', 'false'],
  }))
    for (const value of values) {
      expect(fitting({ [name]: value }).length, value).toBeGreaterThan(0);
      await check({ [name]: value });
    }
  for (let n = 0; n < byNight(500, 60); n++) await check(someFilter(roll));
  expect([...met].sort()).toEqual(Object.keys(FITS).sort());
  for (const wrong of ['verdict=', 'verdict=a%00', 'overturned=1', 'automation=some', 'decidedAfter=today', 'order=1'])
    expect((await api.get(`/v1/tickets?${wrong}`)).status).toBe(422);
}, 180_000);

/** The cells of a table of RFC 4180. */
const cellsOf = (csv: string): string[][] =>
  csv
    .split('\r\n')
    .reduce<string[]>((lines, line) => {
      const last = lines.at(-1);
      // an odd number of quotes: the line goes on
      if (last !== undefined && (last.match(/"/g) ?? []).length % 2 === 1)
        lines[lines.length - 1] = `${last}\r\n${line}`;
      else lines.push(line);
      return lines;
    }, [])
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
        .map(([, cell = '']) => cell.replace(/^"|"$/g, '').replaceAll('""', '"'))
        .slice(0, 16),
    );

test('S4.9 the table of a list has what its pages have, in cells that no spreadsheet takes for formulas', async () => {
  const text = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  const filters: Filter[] = [
    {},
    { verdict: 'keep' },
    { queue: 'f-1', overturned: 'true' },
    { order: 'oldest' },
    { decidedBy: 'nobody' },
  ];
  for (const filter of filters) {
    const { status, headers, body } = await api.get(`/v1/tickets.csv?${new URLSearchParams(filter)}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const [head = [], ...rows] = cellsOf(body).slice(0, -1);
    const wanted = fitting(filter);
    expect(rows.map(([id]) => id)).toEqual(ids(wanted));
    const column = (name: string) => rows.map((row) => row[head.indexOf(name)]);
    const safe = (value: string) => value.replace(/^[=+\-@\t\r]/, "'$&");
    expect(column('body')).toEqual(wanted.map((t) => safe(t.body === null ? '' : text(t.body))));
    expect(column('decision')).toEqual(wanted.map((t) => safe(t.decision === null ? '' : text(t.decision))));
    expect(column('decidedBy')).toEqual(wanted.map((t) => t.decidedBy ?? ''));
  }
  expect((await api.get('/v1/tickets.csv?limit=5')).status).toBe(422);
});

test('S4.9 reviewers list their own only, agents find nothing by a decision that a look hides, bound keys their queues', async () => {
  const anna = await keyed('reviewer', 'anna');
  const own = (await walk(anna, '/v1/tickets?verdict=keep', 500)).map(({ id }) => id);
  expect(own).toEqual(ids(fitting({ verdict: 'keep', decidedBy: 'anna' })));
  expect((await anna.get('/v1/tickets?reviewer=ben')).status).toBe(403);
  const table = cellsOf((await anna.get('/v1/tickets.csv?decidedBy=ben')).body);
  expect(table.slice(1, -1)).toEqual([]);
  const agent = await keyed('agent');
  const isOpen = ({ looks }: Json) => looks.some(({ outcome }: Json) => outcome === null);
  expect(all.some(isOpen)).toBe(true);
  const hidden: Filter[] = [{ verdict: 'keep' }, { overturned: 'false' }, { automation: 'none' }, { decidedBy: 'ben' }];
  for (const filter of hidden) {
    const found = await walk(agent, `/v1/tickets?${new URLSearchParams(filter)}`, 500);
    expect(ids(found)).toEqual(ids(fitting(filter).filter((ticket) => !isOpen(ticket))));
  }
  const { key } = insist(await api.post('/v1/keys', { name: 'of-f-1', role: 'producer', queues: ['f-1'] }), 'key', 201);
  const bound = api.as(key);
  expect((await bound.get('/v1/tickets.csv?queue=f-0')).status).toBe(403);
  for (const of of ['', '?queue=f-1'])
    expect(cellsOf((await bound.get(`/v1/tickets.csv${of}`)).body)).toHaveLength(fitting({ queue: 'f-1' }).length + 2);
});

test('S4.9 a page ends after so many that do not fit; many rows stream page by page, no faster than they are read', async () => {
  await configure('large', {});
  await sql('alter table item disable trigger user');
  await loader(sql)('large', 'large', MANY, { state: 'settled' });
  const result = `case when substr(id, 7)::int % 9999 = 0 then 'rare' else repeat('x', 1000) end`;
  await sql(`update item set result = to_json(${result}), created_at = date_trunc('milliseconds', created_at)
    where queue = 'large'`);
  await sql('alter table item enable trigger user');
  await sql('analyze item');
  const rare = await walk(api, '/v1/tickets?queue=large&verdict=rare', 50, false);
  expect(rare.map(({ decision }) => decision)).toEqual(repeat(Math.floor(MANY / 9_999), () => 'rare'));
  const oldest = await walk(api, '/v1/tickets?queue=large&verdict=rare&order=oldest', 50, false);
  expect(ids(oldest)).toEqual(ids(rare).reverse());
  const { items, nextCursor } = (await api.get('/v1/tickets?queue=large&verdict=never')).body;
  expect([items, typeof nextCursor]).toEqual([[], 'string']);
  expect(await walk(api, '/v1/tickets?queue=large&verdict=never', 50, false)).toEqual([]);

  const { lists } = running.ctx.db;
  const run = vi.spyOn(lists, 'run');
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write('GET /v1/tickets.csv?queue=large HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  const pages = () => run.mock.calls.filter(([name]) => name === 'list_items').length;
  await eventually(async () => pages() > 0);
  for (let still = -1; still !== pages(); await new Promise((later) => setTimeout(later, 300))) still = pages();
  expect(pages()).toBeLessThan(MANY / 500 / 2);
  let lines = 0;
  socket.on('data', (chunk: Buffer) => {
    lines += chunk.toString().split('\n"large-').length - 1;
  });
  socket.resume();
  await eventually(async () => socket.closed, 60_000);
  expect(pages()).toBe(MANY / 500);
  expect(lines).toBeGreaterThan(MANY * 0.99);
  run.mockRestore();
}, 180_000);
