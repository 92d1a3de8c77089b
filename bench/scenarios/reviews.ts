import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { oracle, type Sent } from '../../test/reviews/oracle.ts';
import { type Caller, need, openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { type Callback, openLockScheme } from '../rivals/lock-scheme.ts';
import { ms, quantile, short } from '../stats.ts';
import { until } from './steady.ts';

const PICTURES = 4;
/** Of callbacks, those that come together with another of the same review, and those that come late. */
const TOGETHER = 0.2;
const LATE = 0.06;
const CALLERS = 16;
const PER_SECOND = 20;
const LATE_MS = 60_000;

/**
 * The article's day in one go: its number of callbacks over its mix of reviews, as fast as they are
 * accepted and at a steady rate, beside the article's own scheme (scenario 11).
 */
export async function reviews(lab: Lab, report: Report): Promise<void> {
  const [total, of, seconds] = lab.quick ? [1_500, 300, 10] : [16_293, 3_000, 60];
  const docket = await lab.docket();
  const scheme = await openLockScheme(lab);
  try {
    for (const [name, callbacks, perSecond] of [
      ['flat out', mix('flat', total, of), undefined],
      [`${PER_SECOND}/s`, mix('steady', PER_SECOND * seconds, of), PER_SECOND],
    ] as const) {
      const ours = await docketsTurn(lab, docket.url, callbacks, perSecond);
      const took = await inTurn(callbacks, perSecond, () => Promise.resolve((c) => scheme.send(c)));
      const waited = scheme.waited();
      const n = callbacks.length.toLocaleString('en-US');
      report.add({
        what: `${n} callbacks, ${name}: acknowledged`,
        figure: `p50 ${ms(quantile(ours.acknowledged, 0.5))}, p99 ${ms(quantile(ours.acknowledged, 0.99))} (${short(ours.rate)}/s)`,
      });
      report.add({
        what: `${n} callbacks, ${name}: applied`,
        figure: `p50 ${ms(ours.p50)}, p99 ${ms(ours.p99)}; put off ${ours.overtaken}; all outcomes as the oracle says`,
        rival: `lock and delay queue: p50 ${ms(quantile(took.each, 0.5))}, p99 ${ms(quantile(took.each, 0.99))}; ${short((100 * waited) / callbacks.length)} % waited for a lock`,
        ratio: ours.p99 / quantile(took.each, 0.99),
      });
    }
  } finally {
    await Promise.all([scheme.stop(), docket.stop()]);
  }
}

/** The same callbacks on every run. */
function mix(name: string, total: number, of: number): Callback[] {
  const draw = fc.sample(fc.record({ review: fc.nat(of - 1), picture: fc.nat(PICTURES - 1), dice: fc.nat(999) }), {
    numRuns: total,
    seed: 16_293,
  });
  const at = (n: number) => Date.parse('2026-11-01T00:00:00.000Z') + n * 50;
  const all: Callback[] = [];
  const last = new Map<string, number>();
  for (const [n, { review, picture, dice }] of draw.entries()) {
    const before = all.at(-1);
    // two audits of one review that end at the same moment
    const together = dice < TOGETHER * 1000 && before !== undefined;
    const id = together ? before.review : `${name}-${review}`;
    const target = `${id}-p${picture}`;
    const late = dice >= 1000 - LATE * 1000 && last.has(target);
    const time = late ? (last.get(target) ?? 0) - LATE_MS : at(n);
    last.set(target, Math.max(time, last.get(target) ?? 0));
    all.push({ review: id, id: `${name}-c${n}`, picture: target, status: n, auditTime: new Date(time).toISOString() });
  }
  return all;
}

type Send = (callback: Callback) => Promise<unknown>;

/** Sends them in order from several callers; at a rate, or each as soon as a caller is free. */
async function inTurn(callbacks: Callback[], perSecond: number | undefined, open: (n: number) => Promise<Send>) {
  const each: number[] = [];
  const start = performance.now();
  const callers = await Promise.all(Array.from({ length: CALLERS }, (_, n) => open(n)));
  let next = 0;
  const work = async (send: Send) => {
    for (let n = next++; n < callbacks.length; n = next++) {
      const callback = callbacks[n] as Callback;
      if (perSecond) await sleep(Math.max(0, start + (together(callbacks, n) * 1000) / perSecond - performance.now()));
      const from = performance.now();
      await send(callback);
      each.push(performance.now() - from);
    }
  };
  await Promise.all(callers.map(work));
  return { each, rate: callbacks.length / ((performance.now() - start) / 1000) };
}

/** Callbacks of one review that follow each other are sent at the same moment. */
const together = (all: Callback[], n: number): number =>
  n > 0 && all[n - 1]?.review === all[n]?.review ? together(all, n - 1) : n;

async function docketsTurn(lab: Lab, url: string, callbacks: Callback[], perSecond: number | undefined) {
  const ids = [...new Set(callbacks.map((c) => c.review))];
  const callers = await openCallers(url, CALLERS);
  await Promise.all(
    callers.map((caller, k) =>
      create(
        caller,
        ids.filter((_, n) => n % CALLERS === k),
      ),
    ),
  );
  const sent = await inTurn(callbacks, perSecond, async (n) => {
    const caller = callers[n] as Caller;
    return ({ review, id, picture, status, auditTime }) =>
      caller
        .post(`/v1/reviews/${review}/callbacks`, {
          kind: 'picture',
          targetId: picture,
          status,
          auditTime,
          callbackId: id,
        })
        .then((reply) => need(reply, 202));
  });
  for (const caller of callers) caller.close();
  const pending = "select 1 from review_callback where outcome = 'pending' limit 1";
  await until(async () => (await lab.sql(pending)).length === 0, 900);
  await asTheOracle(lab, ids);
  const [row] = await lab.sql<{ p50: number; p99: number; overtaken: number }>(
    `select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.99) within group (order by ms) as p99,
            count(*) filter (where applied_at < max_before)::integer as overtaken
       from (select extract(epoch from applied_at - received_at)::double precision * 1000 as ms, applied_at,
                    max(applied_at) over (partition by review_id order by arrival rows between unbounded preceding and 1 preceding) as max_before
               from review_callback where review_id = any ($1)) s`,
    [ids],
  );
  return {
    acknowledged: sent.each,
    rate: sent.rate,
    ...(row ?? { p50: Number.NaN, p99: Number.NaN, overtaken: Number.NaN }),
  };
}

async function create(caller: Caller, ids: string[]): Promise<void> {
  for (const id of ids) {
    const pictures = Array.from({ length: PICTURES }, (_, n) => ({ id: `${id}-p${n}`, status: 0 }));
    need(await caller.put(`/v1/reviews/${id}`, { text: { status: 0 }, pictures, replies: [] }), 201);
  }
}

/** @throws when one outcome is another than the oracle's, in the order of arrival */
async function asTheOracle(lab: Lab, ids: string[]): Promise<void> {
  const rows = await lab.sql<{
    review_id: string;
    target_id: string;
    callback_id: string;
    status: number;
    audit_time: Date;
    outcome: string;
  }>('select * from review_callback where review_id = any ($1) order by review_id, arrival', [ids]);
  for (const id of ids) {
    const own = rows.filter((r) => r.review_id === id);
    const sent = own.map(
      (r): Sent => ({
        callbackId: r.callback_id,
        kind: 'picture',
        targetId: r.target_id,
        status: r.status,
        auditTime: r.audit_time.toISOString(),
      }),
    );
    const { outcomes } = oracle(new Map(), sent);
    if (own.some((r, n) => r.outcome !== outcomes[n])) throw new Error(`review ${id} differs from the oracle`);
  }
}
