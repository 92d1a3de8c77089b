import { setTimeout as sleep } from 'node:timers/promises';
import { call, fail, readData, run } from './call.ts';

// 200 yes-or-no questions as cases before a court, judged side by side by the people who judged them then.

const QUESTIONS = 200;
const TO_WIN = 3;
const name = `demo-${run}`;

const votes = readData('votes-binary.csv').map(([item = '', juror = '', answer = '']) => ({ item, juror, answer }));
const truth = new Map(readData('votes-binary-truth.csv').map(([item, answer]) => [item, answer]));
const questions = [...new Set(votes.map((v) => v.item))].slice(0, QUESTIONS);
const said = new Map(votes.filter((v) => questions.includes(v.item)).map((v) => [`${v.item} ${v.juror}`, v.answer]));
const people = [...new Set([...said.keys()].map((key) => key.split(' ')[1] ?? ''))];

export async function court(): Promise<void> {
  console.log(`\n${QUESTIONS} questions before court ${name}, ${people.length} jurors, first to ${TO_WIN}\n`);
  await call('PUT', `/v1/courts/${name}`, { options: ['0', '1'], votesToWin: TO_WIN });
  await call('PUT', `/v1/courts/${name}/jurors`, { jurors: people.map((id) => ({ id })) });
  const cases = questions.map((item) => {
    // those who were not asked then are parties now, and parties never judge: so each juror is handed their own questions
    const parties = people.filter((juror) => !said.has(`${item} ${juror}`)).map((id) => ({ id }));
    return { id: `${run}-q${item}`, body: { item }, parties };
  });
  await call('POST', `/v1/courts/${name}/cases/batch`, { cases });
  const started = Date.now();
  await Promise.all(people.map(judge));
  await report((Date.now() - started) / 1000);
}

/** One juror: claims and votes as they did then, until nothing is left for them. */
async function judge(juror: string): Promise<void> {
  for (let pause = 100; ; ) {
    const { case: given, lease, reasons } = await call('POST', `/v1/courts/${name}/claim`, { juror });
    if (given) {
      const option = said.get(`${given.body.item} ${juror}`);
      await call('POST', `/v1/cases/${given.id}/votes`, { token: lease.token, option });
      pause = 100;
    } else if (reasons.noVotesLeft === 0) return;
    else {
      await sleep(pause);
      pause = Math.min(2_000, pause * 2);
    }
  }
}

async function report(seconds: number): Promise<void> {
  const stats = await call('GET', `/v1/courts/${name}/stats`);
  let right = 0;
  let excess = 0;
  for (const item of questions) {
    const { winner, tally } = await call('GET', `/v1/cases/${run}-q${item}`);
    if (winner === truth.get(item)) right++;
    if (Math.max(tally['0'], tally['1']) !== TO_WIN) excess++;
  }
  const share = Math.round((right / QUESTIONS) * 100);
  console.log(`decided                             ${stats.decided} of ${QUESTIONS}, in ${seconds.toFixed(1)} s`);
  console.log(`votes counted                       ${stats.votes} of the ${said.size} that were given then`);
  console.log(`wasted, or too many                 ${stats.wasted}, ${excess}`);
  console.log(`agreement of jurors                 kappa ${stats.kappa?.toFixed(2)}, alpha ${stats.alpha?.toFixed(2)}`);
  console.log(`as the true answer                  ${right} of ${QUESTIONS} (${share} %)`);
  if (stats.decided !== QUESTIONS || stats.wasted > 0 || excess > 0) fail('the court has not done what it should');
}
