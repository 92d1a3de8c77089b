import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, Reply } from '../support/client.ts';
import { LEASES } from '../support/leases.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';
import { Model, type ModelTicket, type NewModelTicket, type Outcome } from './model.ts';

const RUNS = Number(process.env.MODEL_RUNS ?? byNight(60, 6));
/** On average half of this. */
const COMMANDS = 60;
const REVIEWERS = ['anna', 'bob', 'carl'];
const SETTINGS = { one: { maxHeld: 1, maxAttempts: null }, two: { maxHeld: 2, maxAttempts: 2 } };
type QueueName = keyof typeof SETTINGS;

const { api, sql } = await startTestSystem({}, { role: 'api' });

/** The running system as one run of commands sees it. */
interface Real {
  /** Each run has queues and ids of its own, with this in front. */
  prefix: string;
  /** Every token that was given for a ticket, in the order of its leases. */
  tokens: Map<string, string[]>;
  versions: Map<string, number>;
}

type Act = (model: Model, real: Real) => Promise<void>;

const withoutPrefix = (real: Real, text: string) => text.slice(real.prefix.length);
const ticketPath = (real: Real, t: ModelTicket, rest = '') => `/v1/tickets/${real.prefix}${t.id}${rest}`;

const expectOutcome = ({ status, body }: Reply, expected: Outcome): void =>
  expect({ status, code: body.code }, JSON.stringify(body)).toMatchObject(expected);

const viewOf = (t: ModelTicket) => ({
  ...{ id: t.id, queue: t.queue, state: t.state, priority: t.priority, requires: t.requires, exclude: t.exclude },
  attempts: t.leases.length,
  holder: t.state === 'held' ? (t.leases.at(-1)?.holder ?? null) : null,
  decision: t.decision,
  decidedBy: t.decidedBy,
  invalidation: t.state === 'invalidated' ? t.reason : null,
});

const viewOfJson = (real: Real, t: Json): ReturnType<typeof viewOf> => ({
  ...{ id: withoutPrefix(real, t.id), queue: withoutPrefix(real, t.queue), state: t.state, priority: t.priority },
  ...{ requires: t.requires, exclude: t.exclude, attempts: t.attempts, holder: t.lease?.reviewer ?? null },
  ...{ decision: t.decision, decidedBy: t.decidedBy, invalidation: t.invalidation?.reason ?? null },
});

/** Everything the API shows equals what the model says, and no version goes back. */
async function compare(model: Model, real: Real): Promise<void> {
  const shown: Json[] = [];
  for (const queue of Object.keys(model.queues))
    shown.push(...(await api.get(`/v1/tickets?queue=${real.prefix}${queue}&limit=500`)).body.items);
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  expect(shown.map((t) => viewOfJson(real, t)).sort(byId)).toEqual(model.tickets.map(viewOf).sort(byId));
  for (const { id, version } of shown) {
    expect(version).toBeGreaterThanOrEqual(real.versions.get(id) ?? 0);
    real.versions.set(id, version);
  }
}

function remember(real: Real, handed: Json): void {
  const known = real.tokens.get(handed.id) ?? [];
  if (!known.includes(handed.lease.token)) real.tokens.set(handed.id, [...known, handed.lease.token]);
}

const subset = (...all: string[]) => fc.subarray(all);
const queue = fc.constantFrom<QueueName>('one', 'two');
const reviewer = fc.constantFrom(...REVIEWERS);
const skills = fc.oneof(fc.constant<string[]>([]), fc.constant<string[]>(['x', 'y']), subset('x', 'y'));
const content = fc.record({
  queue,
  priority: fc.integer({ min: 0, max: 2 }),
  requires: subset('x', 'y'),
  exclude: subset(...REVIEWERS),
});
const seldom = <T>(arbitrary: fc.Arbitrary<T>, usual: T) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });
const newTicket: fc.Arbitrary<NewModelTicket> = content.chain((c) =>
  fc.record({
    ...{ queue: fc.constant(c.queue), priority: fc.constant(c.priority) },
    requires: seldom(fc.constant(c.requires), []),
    exclude: seldom(fc.constant(c.exclude), []),
  }),
);
/** Which lease a call names: the newest, an older one, or one that there never was. */
const lease = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constant(-1) },
);

const sends = ({ priority, requires, exclude }: NewModelTicket) => ({ body: null, priority, requires, exclude });

const adds = fc.tuple(newTicket, seldom<number | null>(fc.nat(), null)).map(([sent, again]): [string, Act] => [
  `add ${JSON.stringify(sent)}${again === null ? '' : ` as number ${again}`}`,
  async (model, real) => {
    const known = again === null ? undefined : model.tickets[again % (model.tickets.length || 1)];
    const id = known?.id ?? `t${model.tickets.length}`;
    // half of the repeats say what was said first
    const what = known && (again ?? 0) % 2 === 0 ? known.first : sent;
    const expected = model.add(id, what);
    const body = { id: real.prefix + id, ...sends(what) };
    expectOutcome(await api.post(`/v1/queues/${real.prefix}${what.queue}/tickets`, body), expected);
  },
]);

const claims = fc
  .tuple(queue, reviewer, skills, fc.integer({ min: 1, max: 3 }))
  .map(([name, who, able, count]): [string, Act] => [
    `claim ${name} ${who} [${able}] ${count}`,
    async (model, real) => {
      const { resumed, fresh } = model.claim(name, who, able, count);
      const reply = await api.post(`/v1/queues/${real.prefix}${name}/claim`, { reviewer: who, skills: able, count });
      const handed = reply.body.tickets.map((t: Json) => [withoutPrefix(real, t.id), t.resumed]);
      expect(handed).toEqual([...resumed.map((t) => [t.id, true]), ...fresh.map((t) => [t.id, false])]);
      for (const t of reply.body.tickets) remember(real, t);
    },
  ]);

/** A call about one of the tickets there are, rather about one that is held: most calls have something to do there. */
const about = <T>(
  name: string,
  args: fc.Arbitrary<T>,
  act: (model: Model, real: Real, t: ModelTicket, args: T) => Promise<void>,
) =>
  fc.tuple(fc.nat({ max: 20 }), args).map(([n, a]): [string, Act] => [
    `${name} ${n} ${JSON.stringify(a)}`,
    async (model, real) => {
      const held = model.tickets.filter((one) => one.state === 'held');
      const among = n % 3 > 0 && held.length > 0 ? held : model.tickets;
      const t = among[n % (among.length || 1)];
      if (t) await act(model, real, t, a);
    },
  ]);

/** The token of a lease counted from the newest, and its number; one that never was has none. */
function named(real: Real, t: ModelTicket, back: number): { token: string; nth: number | undefined } {
  const tokens = real.tokens.get(real.prefix + t.id) ?? [];
  const nth = back < 0 ? -1 : tokens.length - 1 - back;
  return nth < 0 ? { token: 'lt_never', nth: undefined } : { token: tokens[nth] as string, nth };
}

const decision = fc.constantFrom<unknown>('keep', { remove: true }, 0);
const decides = about(
  'decide',
  fc.record({ lease, decision, next: fc.boolean(), skills }),
  async (model, real, t, a) => {
    const { token, nth } = named(real, t, a.lease);
    const expected = model.decide(t, nth, a.decision, a.next, a.skills);
    const { lease: _, ...sent } = a;
    const reply = await api.post(ticketPath(real, t, '/decide'), { token, ...sent });
    expectOutcome(reply, expected);
    if (reply.status !== 200) return;
    const next = nth === undefined ? undefined : t.leases[nth]?.next;
    expect(reply.body.next && withoutPrefix(real, reply.body.next.id)).toBe(next);
    if (reply.body.next?.lease?.token) remember(real, reply.body.next);
  },
);

const renews = about('renew', lease, async (model, real, t, back) => {
  const { token, nth } = named(real, t, back);
  expectOutcome(await api.post(ticketPath(real, t, '/renew'), { token }), model.renew(t, nth));
});

const releases = about(
  'release',
  fc.record({ lease, skip: fc.boolean(), operator: seldom(fc.constant(true), false) }),
  async (model, real, t, a) => {
    const { token, nth } = named(real, t, a.lease);
    const expected = model.release(t, a.operator ? null : nth, a.skip);
    const sent = { skip: a.skip, ...(!a.operator && { token }) };
    expectOutcome(await api.post(ticketPath(real, t, '/release'), sent), expected);
  },
);

const transfers = about('transfer', fc.record({ lease, queue, operator: fc.boolean() }), async (model, real, t, a) => {
  const { token, nth } = named(real, t, a.lease);
  const expected = model.transfer(t, a.operator ? null : nth, a.queue);
  const body = { queue: real.prefix + a.queue, ...(!a.operator && { token }) };
  expectOutcome(await api.post(ticketPath(real, t, '/transfer'), body), expected);
});

const changes = content.chain(({ priority, requires, exclude }) =>
  fc
    .subarray(Object.entries({ priority, requires, exclude }), { minLength: 1 })
    .map((some) => Object.fromEntries(some) as Partial<NewModelTicket>),
);
const patches = about('patch', changes, async (model, real, t, change) => {
  expectOutcome(await api.patch(ticketPath(real, t), change), model.patch(t, change));
});

const reason = fc.constantFrom('spam', 'gone');
const invalidates = about('invalidate', reason, async (model, real, t, why) => {
  expectOutcome(await api.post(ticketPath(real, t, '/invalidate'), { reason: why }), model.invalidate(t, why));
});
const resolves = about('resolve', fc.record({ decision, reason }), async (model, real, t, a) => {
  expectOutcome(await api.post(ticketPath(real, t, '/resolve'), a), model.resolve(t, a.decision, a.reason));
});

const expires = about('expire', fc.constant(null), async (model, real, t) => {
  const id = real.prefix + t.id;
  const now = 'expires_at = clock_timestamp(), wake_at = clock_timestamp()';
  await sql(`update item set ${now} where id = $1 and state = 'held'`, [id]);
  await sql(`select tick_items('ticket', array[$1])`, [id]);
  model.expire(t);
});

const pauses = fc.tuple(queue, seldom(fc.constant(true), false)).map(([name, paused]): [string, Act] => [
  `${paused ? 'pause' : 'resume'} ${name}`,
  async (model, real) => {
    Object.assign(model.queues[name] as object, { paused });
    const { body } = await api.post(`/v1/queues/${real.prefix}${name}/${paused ? 'pause' : 'resume'}`);
    expect(body.paused).toBe(paused);
  },
]);

const asCommand = (arbitrary: fc.Arbitrary<[string, Act]>) =>
  arbitrary.map(
    ([name, act]): fc.AsyncCommand<Model, Real> => ({
      check: () => true,
      toString: () => name,
      async run(model, real) {
        await act(model, real);
        await compare(model, real);
      },
    }),
  );

// what there is more of here comes more often
const often = [adds, adds, adds, claims, claims, claims, claims, claims, claims, decides, decides, releases, releases];
const all = [...often, renews, transfers, patches, invalidates, resolves, pauses, expires, expires];
const commands = fc.commands(all.map(asCommand), { size: 'max', maxCommands: COMMANDS });

/** The history of each ticket and the counts of each queue say the same as the model. */
async function recount(model: Model, real: Real): Promise<void> {
  for (const t of model.tickets) {
    const id = real.prefix + t.id;
    const events = await api.tickets.events(id);
    expect(events.map((e) => e.seq)).toEqual(events.map((_, n) => n + 1));
    expect(events.filter((e) => e.type === 'claimed').length).toBe(t.leases.length);
    const held = `select holder, why as end from ${LEASES} where item_id = $1 order by granted_at, seq`;
    expect(await sql(held, [id])).toEqual(t.leases.map(({ holder, end }) => ({ holder, end })));
  }
  let expiries = 0;
  for (const name of Object.keys(model.queues)) {
    const stats = await api.tickets.stats(real.prefix + name);
    expiries += stats.leaseExpiries;
    for (const state of ['waiting', 'held', 'decided', 'invalidated', 'dead'] as const)
      expect([name, state, stats[state]]).toEqual([name, state, model.count(name, state)]);
    expect([stats.delayed, stats.expired]).toEqual([0, 0]);
  }
  expect(expiries).toBe(model.expiries);
}

let runs = 0;
test(`S0.2 S0.5 S0.6 any order of calls does what the model does (${RUNS} × ${COMMANDS})`, async () => {
  const seen = { decided: 0, invalidated: 0, dead: 0, held: 0, waiting: 0 };
  const once = async (cmds: Iterable<fc.AsyncCommand<Model, Real>>) => {
    const real: Real = { prefix: `run${++runs}-`, tokens: new Map(), versions: new Map() };
    const model = new Model({ one: { ...SETTINGS.one, paused: false }, two: { ...SETTINGS.two, paused: false } });
    for (const [name, settings] of Object.entries(SETTINGS))
      await api.put(`/v1/queues/${real.prefix}${name}`, { ...settings, leaseSeconds: 3600 });
    await fc.asyncModelRun(() => ({ model, real }), cmds);
    await recount(model, real);
    for (const t of model.tickets) seen[t.state]++;
  };
  const draw = () => fc.assert(fc.asyncProperty(commands, once), { numRuns: RUNS, endOnFailure: false });
  await draw();
  // so few runs may by chance have no ticket that died
  for (let more = 0; more < 10 && Object.values(seen).includes(0); more++) await draw();
  for (const [state, count] of Object.entries(seen)) expect(count, state).toBeGreaterThan(0);
}, 300_000);
