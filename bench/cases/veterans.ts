import { contentHash } from '../../services/shared/tokens.ts';
import { type Caller, need, openCallers } from '../client.ts';
import { forgetUnpublished, type Lab, withoutWorkflows } from '../lab.ts';
import type { Report } from '../report.ts';
import { median, ms, quantile, repeat, short } from '../stats.ts';
import { makeCourt, numbered, putList } from './court.ts';

const CALLERS = 16;
/** One for each caller; so a case that all of them have voted on has as many votes as the longest that nine decide. */
const PEOPLE = CALLERS;
/** Nothing is decided here, however many have voted. */
const VOTES_TO_WIN = 1_000;
const BATCH = 1_000;
const ROUNDS = 3;

interface Turn {
  claims: number[];
  rate: number;
}

/** Claims of jurors who have voted on a third of all open cases, beside those of jurors who haven't voted yet. */
export async function veterans(lab: Lab, report: Report, url: string): Promise<void> {
  const [cases, seconds] = lab.quick ? [300, 1] : [3_000, 4];
  for (const pick of ['random', 'oldest', 'closest']) {
    const court = `veterans-${pick}`;
    await seedCourt(lab, url, court, pick, cases);
    const callers = await openCallers(url, CALLERS);
    const turns: Record<'v' | 'f', Turn[]> = { v: [], f: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const side of ['v', 'f'] as const) turns[side].push(await turn(callers, court, side, seconds));
    for (const caller of callers) caller.close();
    await forgetUnpublished(lab);
    const claims = { v: turns.v.flatMap((t) => t.claims), f: turns.f.flatMap((t) => t.claims) };
    const figure = (side: 'v' | 'f') =>
      `p50 ${ms(quantile(claims[side], 0.5))}, p99 ${ms(quantile(claims[side], 0.99))} (${short(median(turns[side].map((t) => t.rate)))} claims with release/s)`;
    report.add({
      what: `${CALLERS} callers, pick ${pick}: claim of who voted on ${(cases / 3).toLocaleString('en-US')} of ${cases.toLocaleString('en-US')} open cases`,
      figure: figure('v'),
      rival: `who hasn’t voted: ${figure('f')}`,
      ratio: quantile(claims.v, 0.5) / quantile(claims.f, 0.5),
    });
  }
}

/** Claims and releases for some seconds, each caller for one person. */
async function turn(callers: Caller[], court: string, side: 'v' | 'f', seconds: number): Promise<Turn> {
  const { took, rate } = await repeat(
    callers.map((caller, k) => {
      const juror = `${side}${k}`;
      return async (all) => {
        const start = performance.now();
        const { case: found, lease } = need(await caller.post(`/v1/courts/${court}/claim`, { juror }), 200);
        all.push(performance.now() - start);
        if (!found) throw new Error(`${juror} got nothing in ${court}`);
        need(await caller.post(`/v1/cases/${found.id}/release`, { token: lease.token }), 200);
        return true;
      };
    }),
    seconds,
  );
  return { claims: took, rate };
}

/** A court with open cases on which its veterans have voted, written as votes leave them. */
async function seedCourt(lab: Lab, url: string, court: string, pick: string, cases: number): Promise<void> {
  const [caller] = (await openCallers(url, 1)) as [Caller];
  await makeCourt(caller, court, { votesToWin: VOTES_TO_WIN, strategy: { pick }, goldShare: 0 });
  await putList(caller, court, [...numbered(PEOPLE, 'v'), ...numbered(PEOPLE, 'f')]);
  caller.close();
  const priority = pick === 'closest' ? -VOTES_TO_WIN : 0;
  const rows = numbered(cases, `${court}-`).map((id, no) => ({
    ...{ no, id, court, parties: [], body: null, hash: contentHash({ id }), callback: null, deadlineSeconds: null },
    ...{ gold: null, votesLeft: VOTES_TO_WIN, priority, actor: 'bench' },
  }));
  await withoutWorkflows(lab, async () => {
    for (let at = 0; at < rows.length; at += BATCH)
      await lab.db.move('add_cases', { cases: rows.slice(at, at + BATCH) });
  });
  // in the order in which claims led to them: anywhere, or a third from the head on
  const voted = pick === 'random' ? '(c.n + p.n) % 3 = 0' : `c.n < ${cases / 3}`;
  await lab.sql(
    `with voted as materialized (
       select 'v' || p.n as juror, $1 || '-' || c.n as id, gen_random_uuid()::text as token,
              case when (c.n / 3 + p.n / 3) % 2 = 0 then 'buyer' else 'seller' end as option
         from generate_series(0, $3::integer - 1) c (n) cross join generate_series(0, $2::integer - 1) p (n) where ${voted}
     ), held as (
       insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, ended_at, why, ended_by)
       select token, 'case', id, $1, juror, juror, now(), now(), now(), 'settled', juror from voted)
     insert into vote (token, case_id, court, juror, person, option, at, counted, gold)
     select token, id, $1, juror, juror, option, now(), true, false from voted`,
    [court, PEOPLE, cases],
  );
  await lab.sql(
    `update case_file f set tally = s.tally, votes = s.votes, votes_left = $2 - s.most
       from (select case_id, jsonb_object_agg(option, n) as tally, sum(n)::integer as votes, max(n)::integer as most
               from (select case_id, option, count(*) as n from vote where court = $1 group by 1, 2) o group by 1) s
      where f.id = s.case_id`,
    [court, VOTES_TO_WIN],
  );
  await lab.sql(
    `update item i set skipped = array(select v.person from vote v where v.case_id = i.id), capacity = f.votes_left, priority = p.priority, rank = case_rank(c, p.priority, i.first_available_at)
       from case_file f join court c on c.name = f.court
      cross join lateral (select case c.pick when 'closest' then -f.votes_left else 0 end as priority) p
      where i.kind = 'case' and i.id = f.id and f.court = $1`,
    [court],
  );
  for (const table of ['item', 'event', 'case_file', 'vote', 'lease', 'juror'])
    await lab.sql(`vacuum analyze ${table}`);
}
