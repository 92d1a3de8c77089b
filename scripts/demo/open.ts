import { call, readData, run } from './call.ts';
import { dispute, SIDES } from './disputes.ts';

// Work that is left for whoever opens the console: a queue with a form, a court, a topic, a group's tasks, a review, and a
// callback whose receiver does not exist.

export const QUEUE = 'sites';
export const COURT = 'disputes';
export const TOPIC = 'orders';
const GROUP = 'raters';
const TEMPLATE = 'rate-a-site';

/** On the court's list besides those who judged then: who looks at the jury desk calls themselves so. */
const GUEST = 'rita';
const LEFT = 60;
const DAY_SECONDS = 86_400;
/** Votes of those who judged it then, given before the demo ends: a case is decided by three. */
const VOTES = 20;

/** What the ratings mean. */
const FORM = {
  type: 'object',
  required: ['rating'],
  additionalProperties: false,
  properties: {
    rating: {
      title: 'Rating',
      oneOf: [
        { const: 'G', title: 'G · everybody' },
        { const: 'P', title: 'P · with parents' },
        { const: 'R', title: 'R · restricted' },
        { const: 'X', title: 'X · adults only' },
      ],
    },
    note: { type: 'string', title: 'Note', maxLength: 500 },
  },
};

export const sites = [...new Set(readData('moderation-ratings.csv').map(([site = '']) => site))];
export const people = [...new Set(readData('moderation-ratings.csv').map(([, person = '']) => person))].slice(0, 30);
export const jurors = [...new Set(readData('votes-binary.csv').map(([, juror = '']) => juror))];

export const siteTicket = (site: string, n: number) => ({
  id: `${run}-${n}-${site}`,
  priority: n % 10 === 0 ? 5 : 0,
  body: { site, reportedBy: people[n % people.length], reason: 'A user asks for a rating of this site.' },
});

export const order = (n: number, delay: number) => ({
  ...{ topic: TOPIC, id: `${run}-order-${n}`, delay, TTR: 60 },
  body: { order: n, close: 'if it is not paid by then' },
});

export async function leaveOpen(): Promise<void> {
  await call('PUT', `/v1/queues/${QUEUE}`, {
    ...{ leaseSeconds: 300, maxHeld: 2, ageing: { secondsPerLevel: 600 }, maxAttempts: 5 },
    form: FORM,
  });
  const tickets = sites.slice(0, LEFT).map(siteTicket);
  await call('POST', `/v1/queues/${QUEUE}/tickets/batch`, { tickets });
  await call('POST', `/v1/queues/${QUEUE}/tickets`, { body: { site: 'later' }, delaySeconds: DAY_SECONDS });
  await call('PUT', `/v1/courts/${COURT}`, { options: SIDES, votesToWin: 3 });
  await call('PUT', `/v1/courts/${COURT}/jurors`, { jurors: [...jurors, GUEST].map((id) => ({ id })) });
  const cases = Array.from({ length: LEFT }, (_, n) => dispute(n));
  await call('POST', `/v1/courts/${COURT}/cases/batch`, { cases });
  for (const juror of jurors.slice(0, VOTES)) await voteOnce(juror);
  const jobs = Array.from({ length: LEFT }, (_, n) => order(n, n < LEFT / 3 ? 0 : n * 60));
  await call('POST', '/v1/jobs', { command: 'add', jobs });
  const report = { cron: '0 6 * * *', body: { report: 'orders of yesterday' }, TTR: 60 };
  await call('PUT', `/v1/topics/${TOPIC}/schedules/daily-report`, report);
  await leaveTasks();
  await leaveReview();
  await leaveCallback();
  console.log(
    `\nleft open: queue ${QUEUE}, queue posts, court ${COURT}, topic ${TOPIC}, group ${GROUP}, a review, a callback to no one`,
  );
}

/** One juror's turn: claims a case and votes as likely as not. */
export async function voteOnce(juror: string): Promise<void> {
  const { case: given, lease } = await call('POST', `/v1/courts/${COURT}/claim`, { juror });
  if (!given) return;
  const option = SIDES[Math.random() < 0.6 ? 0 : 1];
  await call('POST', `/v1/cases/${given.id}/votes`, { token: lease.token, option });
}

async function leaveTasks(): Promise<void> {
  await call('POST', '/v1/templates', { id: TEMPLATE, name: 'Rate a site', params: { site: { type: 'string' } } });
  await call('PUT', `/v1/groups/${GROUP}`, { members: people });
  const common = { executor: `gid_${GROUP}`, templateId: TEMPLATE, startTime: new Date().toISOString() };
  for (const site of sites.slice(0, 10))
    await call('POST', '/v1/tasks', {
      ...{ id: `${run}-${site}`, ...common, type: 'once', params: { site }, dispatchTimes: 3 },
    });
  const daily = { type: 'rotate', dailyTime: '09:00', params: { site: 'the front page' } };
  await call('POST', '/v1/tasks', { id: `${run}-daily`, ...common, ...daily });
}

async function leaveReview(): Promise<void> {
  const id = `${run}-review`;
  const pictures = ['front', 'back', 'receipt'].map((name) => ({ id: `${run}-${name}`, status: 0 }));
  await call('PUT', `/v1/reviews/${id}`, { text: { status: 0 }, pictures, replies: [], body: { stars: 4 } });
  const later = new Date().toISOString();
  const earlier = new Date(Date.now() - 60_000).toISOString();
  const audit = { kind: 'picture', targetId: `${run}-front`, waitSeconds: 5 };
  await call('POST', `/v1/reviews/${id}/callbacks`, { ...audit, status: 2, auditTime: later });
  await call('POST', `/v1/reviews/${id}/callbacks`, { ...audit, status: 1, auditTime: earlier });
}

/** Its delivery stays undelivered, and shows why. */
async function leaveCallback(): Promise<void> {
  const secret = `whsec_${Buffer.alloc(24, 'demo').toString('base64')}`;
  const callback = { url: 'https://receiver.invalid/decisions', secret };
  const { id } = await call('POST', `/v1/queues/${QUEUE}/tickets`, { body: { site: 'with a receiver' }, callback });
  await call('POST', `/v1/tickets/${id}/resolve`, { decision: { rating: 'G' }, reason: 'rated elsewhere' });
}
