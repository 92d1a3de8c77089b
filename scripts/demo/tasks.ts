import { call, fail, readData, run } from './call.ts';

// 60 web sites to be rated three times each, as tasks that a group of twelve of those who rated them pulls.

const SITES = 60;
const TIMES = 3;
const GROUP = 12;
const group = `demo-${run}`;

const ratings = readData('moderation-ratings.csv');
const said = new Map(ratings.map(([site, person, answer]) => [`${site} ${person}`, answer]));
const sites = [...new Set(ratings.map(([site = '']) => site))].slice(0, SITES);
const people = [...new Set(ratings.map(([, person = '']) => person))].slice(0, GROUP);

export async function tasks(): Promise<void> {
  console.log(`\n${SITES} sites to be rated ${TIMES} times each, by group ${group} of ${GROUP}\n`);
  const template = `${group}-site`;
  await call('POST', '/v1/templates', { id: template, name: 'Rate a site', params: { site: { type: 'string' } } });
  await call('PUT', `/v1/groups/${group}`, { members: people });
  const startTime = new Date().toISOString();
  const task = { type: 'once', executor: `gid_${group}`, startTime, templateId: template, dispatchTimes: TIMES };
  for (const site of sites) await call('POST', '/v1/tasks', { id: `${group}-${site}`, ...task, params: { site } });
  const started = Date.now();
  await Promise.all(people.map(pull));
  await report((Date.now() - started) / 1000);
}

/** One person: asks twice for each task, as a client does that lost the first answer, and completes it once. */
async function pull(uid: string): Promise<void> {
  for (;;) {
    const { task, logId } = await call('POST', `/v1/clients/${uid}/next`, {});
    if (!task) return;
    const again = await call('POST', `/v1/clients/${uid}/next`, {});
    if (again.logId !== logId || !again.redo) fail(`${uid} was given ${again.logId} while ${logId} was not completed`);
    await call('POST', `/v1/clients/${uid}/complete`, {
      logId,
      result: said.get(`${task.params.site} ${uid}`) ?? null,
    });
  }
}

async function report(seconds: number): Promise<void> {
  const ratedBy = new Map<string, string[]>();
  let lines = 0;
  for (const site of sites) {
    const { items } = await call('GET', `/v1/dispatch-log?taskId=${group}-${site}&limit=500`);
    lines += items.length;
    const done = items.filter((l: { type: string }) => l.type === 'completed').map((l: { uid: string }) => l.uid);
    ratedBy.set(site, done);
  }
  const right = [...ratedBy.values()].filter((uids) => uids.length === TIMES && new Set(uids).size === TIMES).length;
  console.log(`completed                           ${SITES * TIMES} dispatches in ${seconds.toFixed(1)} s`);
  console.log(`rated by ${TIMES} different people          ${right} of ${SITES}`);
  console.log(`lines in the dispatch log           ${lines}, one for each dispatch and one for each completion`);
  if (right !== SITES || lines !== 2 * SITES * TIMES) fail('the group has not done what it should');
}
