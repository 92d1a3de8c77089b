import { setTimeout as sleep } from 'node:timers/promises';
import { need } from '../client.ts';
import { dice } from '../dice.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { openJuryQueue } from '../rivals/jury-queue.ts';
import { ms, quantile, short } from '../stats.ts';
import { bring, type Jury, makeCourt, numbered, openShared, opinion, putList, type Shared } from './court.ts';

const VOTES_TO_WIN = 9;
const CONNECTIONS = 64;
/** Of reading, and of waiting after a claim that got nothing. */
const READ_MS = { least: 100, most: 900 };
const BACK_MS = { least: 300, most: 700 };

/** More jurors than there are votes to give, all at once, on few cases (S2.5, S2.6). */
export async function rush(lab: Lab, report: Report, url: string): Promise<void> {
  const [jurors, cases] = lab.quick ? [100, 6] : [300, 20];
  const use = await openShared(url, CONNECTIONS);
  const rival = await openJuryQueue(lab);
  try {
    for (const overbook of [0, 5]) {
      const ids = numbered(cases, `rush-${overbook}-`);
      const court = `rush-${overbook}`;
      await use((caller) => makeCourt(caller, court, { votesToWin: VOTES_TO_WIN, overbook, goldShare: 0 }));
      await use((caller) => putList(caller, court, numbered(jurors, 'j')));
      await use((caller) => bring(caller, court, ids));
      const ours = await run(docketsJury(use, court), jurors, ids);
      await mustBeExact(lab, use, court, overbook, ours.wasted);
      const theirs = await run(await rival.open(ids, VOTES_TO_WIN, overbook), jurors, ids);
      const what = `${jurors} jurors rush ${cases} cases, over-booking ${overbook}`;
      report.add({
        what: `${what}: votes wasted`,
        figure: `${ours.wasted} of ${ours.votes} (never more than ${VOTES_TO_WIN} for a side)`,
        rival: `check, then join: ${theirs.wasted} of ${theirs.votes}`,
      });
      report.add({
        what: `${what}: time to decide`,
        figure: timesOf(ours.decided),
        rival: `check, then join: ${timesOf(theirs.decided)}`,
        ratio: mean(ours.decided) / mean(theirs.decided),
      });
    }
  } finally {
    use.close();
    await rival.stop();
  }
}

const mean = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
const timesOf = (took: number[]) => `mean ${ms(mean(took))}, p99 ${ms(quantile(took, 0.99))}`;
const between = ({ least, most }: typeof READ_MS, draw: number) => least + draw * (most - least);

function docketsJury(use: Shared, court: string): Jury {
  return {
    async claim(juror) {
      const { case: found, lease } = need(await use((c) => c.post(`/v1/courts/${court}/claim`, { juror })), 200);
      return found && { id: found.id, token: lease.token };
    },
    async vote({ id, token }, _juror, option) {
      const reply = await use((c) => c.post(`/v1/cases/${id}/votes`, { token, option }));
      if (reply.status === 409 && reply.body.code === 'not_open') return 'wasted';
      return need(reply, 200).case.state === 'decided' ? 'decided' : 'counted';
    },
  };
}

/** Everybody claims, reads and votes until all cases are decided; what is being read then is voted on all the same. */
async function run(jury: Jury, jurors: number, ids: string[]) {
  const decided: number[] = [];
  let votes = 0;
  let wasted = 0;
  const start = performance.now();
  const live = async (juror: string, draw: () => number) => {
    while (decided.length < ids.length) {
      const held = await jury.claim(juror);
      if (!held) {
        await sleep(between(BACK_MS, draw()));
        continue;
      }
      await sleep(between(READ_MS, draw()));
      const outcome = await jury.vote(held, juror, opinion(held.id, draw()));
      votes++;
      if (outcome === 'decided') decided.push(performance.now() - start);
      if (outcome === 'wasted') wasted++;
    }
  };
  await Promise.all(numbered(jurors, 'j').map((juror, n) => live(juror, dice(n))));
  return { decided, votes, wasted };
}

/** @throws when a side has more votes than it needs, or wasted votes are counted otherwise than they were refused */
async function mustBeExact(lab: Lab, use: Shared, court: string, overbook: number, refused: number): Promise<void> {
  const [row] = await lab.sql<{ most: number; wasted: number; ended: boolean }>(
    `select max(s.n)::integer as most, (select sum(wasted)::integer from case_file where court = $1) as wasted,
            (select bool_and(winner is not null) from case_file where court = $1) as ended
       from (select count(*) as n from vote where court = $1 and counted group by case_id, option) s`,
    [court],
  );
  const stats = need(await use((caller) => caller.get(`/v1/courts/${court}/stats`)), 200);
  if (!row?.ended) throw new Error(`${court} has undecided cases`);
  if (row.most !== VOTES_TO_WIN) throw new Error(`${row.most} votes for one side in ${court}`);
  if (row.wasted !== refused || stats.wasted !== refused)
    throw new Error(`${court}: ${refused} late votes refused, ${row.wasted} and ${stats.wasted} counted as wasted`);
  if (overbook === 0 && refused > 0) throw new Error(`${short(refused)} votes wasted without over-booking`);
}
