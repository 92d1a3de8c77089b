import { expect } from 'vitest';
import { type Client, claimOne, eventually, type Json } from './client.ts';
import type { Step } from './story.ts';

// The order in which the document's examples are called: what is read was made before.

const LOST = { status: 409, code: 'lease_lost' };
const twice = (step: Step): Step[] => [step, step];
const each = (...operations: string[]): Step[] => operations.map((operation) => ({ operation }));

const isDelivered = ({ items }: Json, isReal: boolean) =>
  items.length > 0 && (!isReal || items.every((delivery: Json) => delivery.state === 'delivered'));
const isRunning = ({ snapshot }: Json) => snapshot !== null;
const delivered =
  (path: string): Step['before'] =>
  (client, _made, isReal) =>
    eventually(async () => isDelivered((await client.get(path)).body, isReal));

async function done(reply: Promise<{ status: number; body: Json }>): Promise<Json> {
  const { status, body } = await reply;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

/** boris holds report-18. */
const borisClaims =
  (queue: string): Step['before'] =>
  async (client, made) => {
    const { id, lease } = await claimOne(client, queue, 'boris', { skills: ['de'] });
    expect(id).toBe('report-18');
    made.report18 = lease.token;
  };

const tickets: Step[] = [
  ...each('putQueue', 'getQueue', 'listQueues', 'pauseQueue', 'resumeQueue'),
  { operation: 'deleteQueue', before: (client) => done(client.put('/v1/queues/reports-2025', {})) },
  ...twice({ operation: 'addTicket' }),
  { operation: 'addTickets' },
  {
    operation: 'claimTickets',
    made: ({ tickets: [first, second] }) => ({ report17: first.lease.token, report18: second.lease.token }),
  },
  { operation: 'renewTicket', refused: LOST },
  ...each('addTicketNote', 'listTicketNotes', 'explainClaim'),
  { operation: 'decideTicket', refused: LOST, made: ({ next }) => ({ report19: next.lease.token }) },
  { operation: 'releaseTicket', body: 'operator' },
  { operation: 'releaseTicket', body: 'holder', refused: LOST, before: borisClaims('reports') },
  { operation: 'transferTicket', body: 'operator' },
  { operation: 'transferTicket', body: 'holder', refused: LOST, before: claraClaims },
  ...each('updateTicket', 'resolveTicket', 'resolveTickets', 'invalidateTicket', 'invalidateTickets'),
  ...each('getTicket', 'listTickets', 'getQueueStats'),
  {
    operation: 'listTicketEvents',
    until: ({ items }, isReal) => !isReal || items.some((event: Json) => event.type === 'delivered'),
  },
  { operation: 'getTicketWorkflow', until: isRunning },
  { operation: 'listTicketDeliveries', until: isDelivered },
  { operation: 'redeliverTicketDelivery' },
  { operation: 'redeliverDelivery', before: delivered('/v1/tickets/report-20/deliveries') },
];

/** Who skipped a ticket is not offered it again, so clara takes it where it went. */
async function claraClaims(client: Client, made: Parameters<NonNullable<Step['before']>>[1]): Promise<void> {
  const { id, lease } = await claimOne(client, 'harassment', 'clara');
  expect(id).toBe('report-18');
  made.report18 = lease.token;
}

const command = (body: string, more: Partial<Step> = {}): Step => ({ operation: 'runJobCommand', body, ...more });
const pop = (client: Client) => done(client.post('/v1/jobs', { command: 'pop', topic: 'orderclose' }));

const jobs: Step[] = [
  ...each('putTopic', 'getTopic', 'listTopics'),
  { operation: 'deleteTopic', before: (client) => done(client.put('/v1/topics/orderclose-2025', {})) },
  command('add'),
  command('addMany'),
  command('pop', { made: ({ token }) => ({ order2: token }) }),
  command('touch'),
  command('finish'),
  command('release', {
    before: async (client, made) => {
      made.order3 = (await pop(client)).token;
    },
  }),
  command('bury', {
    before: async (client, made) => {
      made.order3Again = (await pop(client)).token;
    },
  }),
  ...['kickOne', 'peek'].map((name) => command(name)),
  ...each('getJob', 'listJobEvents'),
  { operation: 'getJobWorkflow', until: isRunning },
  ...each('listTopicJobs', 'getTopicStats', 'buryJob'),
  ...['delete', 'finishMany', 'kick'].map((name) => command(name)),
  ...each('putSchedule', 'getSchedule', 'listSchedules', 'deleteSchedule'),
];

const reviews: Step[] = [
  ...twice({ operation: 'putReview' }),
  { operation: 'addReviewCallback', body: 'text' },
  { operation: 'addReviewCallback', body: 'picture' },
  { operation: 'addPictureCallback', body: 'later' },
  { operation: 'addPictureCallback', body: 'waiting' },
  ...each('getReview', 'listReviews', 'listReviewLog', 'getReviewStats', 'getReviewStores'),
  { operation: 'getReviewWorkflow', until: isRunning },
  { operation: 'listReviewDeliveries', until: isDelivered },
  { operation: 'redeliverReviewDelivery' },
];

/** greta is invited to judge dispute-9. */
async function gretaIsInvited(client: Client): Promise<void> {
  const assign = { jurors: 1, answerSeconds: 3600 };
  await done(client.put('/v1/courts/experts', { mode: 'assign', votesToWin: 1, assign }));
  await done(client.put('/v1/courts/experts/jurors', { jurors: [{ id: 'greta' }] }));
  await done(client.post('/v1/courts/experts/cases', { id: 'dispute-9', body: { claim: 'It is no original' } }));
}

const courts: Step[] = [
  ...each('putCourt', 'getCourt', 'listCourts', 'putJurors', 'getJuror'),
  ...twice({ operation: 'addCase' }),
  { operation: 'addCases' },
  { operation: 'claimCase', made: ({ lease }) => ({ carla: lease.token }) },
  { operation: 'renewCase', refused: LOST },
  {
    operation: 'releaseCase',
    refused: LOST,
    before: async (client, made) => {
      made.david = (await done(client.post('/v1/courts/disputes/claim', { juror: 'david' }))).lease.token;
    },
  },
  { operation: 'castVote', refused: LOST },
  ...each('getCase', 'listCases', 'listVotes', 'listCaseEvents'),
  { operation: 'getCaseWorkflow', until: isRunning },
  { operation: 'invalidateCase' },
  { operation: 'listCaseDeliveries', until: isDelivered },
  { operation: 'listDeliveries' },
  { operation: 'redeliverCaseDelivery' },
  {
    operation: 'listInvitations',
    before: gretaIsInvited,
    until: ({ items }) => items.length > 0,
    made: ({ items: [invitation] }) => ({ greta: invitation.token }),
  },
  { operation: 'declineCase', refused: LOST },
  ...each('putGoldCases', 'getCourtStats'),
];

const tasks: Step[] = [
  ...twice({ operation: 'addTemplate' }),
  ...each('getTemplate', 'listTemplates'),
  {
    operation: 'deleteTemplate',
    before: (client) => done(client.post('/v1/templates', { id: 'price-check-2025', name: 'Check a price' })),
  },
  ...each('putGroup', 'getGroup', 'listGroups', 'updateGroupMembers'),
  ...twice({ operation: 'addTask', body: 'once' }),
  { operation: 'addTask', body: 'daily' },
  ...each('getTask', 'updateTask', 'listTasks'),
  { operation: 'pullTask', made: ({ logId }) => ({ emil: logId }) },
  { operation: 'getOccurrenceWorkflow', until: isRunning },
  { operation: 'completeTask', refused: { status: 409, code: 'stale_log_id' } },
  { operation: 'listDispatches' },
  { operation: 'listOccurrenceDeliveries', until: isDelivered },
  { operation: 'listOccurrenceEvents' },
  { operation: 'redeliverOccurrenceDelivery' },
  { operation: 'deleteTask' },
];

const FORBIDDEN = { status: 403, code: 'forbidden' };
const system: Step[] = [
  ...each('getOverview', 'getAttention', 'findItems', 'getFigures', 'getPeopleFigures', 'getLateness'),
  { operation: 'openStream', isEndless: true },
  { operation: 'readFeed' },
  {
    operation: 'addStreamTicket',
    refused: FORBIDDEN,
    needsKeys: true,
    made: ({ ticket }) => ({ streamTicket: ticket }),
  },
  { operation: 'addKey', made: ({ id, key }) => ({ keyId: id, key }) },
  { operation: 'signIn', refused: FORBIDDEN, needsKeys: true },
  ...each('getSignInWays', 'getSession', 'listKeys', 'listAdminLog'),
  { operation: 'revokeKey', refused: { status: 404, code: 'not_found' } },
  { operation: 'signOut' },
  ...each('getLiveness', 'getReadiness', 'getMetrics', 'listNodes'),
];

export const STORY: Step[] = [...tickets, ...jobs, ...reviews, ...courts, ...tasks, ...system];
