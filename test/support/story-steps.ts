import { expect } from 'vitest';
import { type Client, claimOne, eventually, type Json } from './client.ts';
import type { Step } from './story.ts';

// The order in which the document's examples are called: what is read was made before.

const LOST = { status: 409, code: 'lease_lost' };
const twice = (step: Step): Step[] => [step, step];

const isDelivered = ({ items }: Json, isReal: boolean) =>
  items.length > 0 && (!isReal || items.every((delivery: Json) => delivery.state === 'delivered'));
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
  ...['putQueue', 'getQueue', 'listQueues', 'pauseQueue', 'resumeQueue'].map((operation) => ({ operation })),
  { operation: 'deleteQueue', before: (client) => done(client.put('/v1/queues/reports-2025', {})) },
  ...twice({ operation: 'addTicket' }),
  { operation: 'addTickets' },
  {
    operation: 'claimTickets',
    made: ({ tickets: [first, second] }) => ({ report17: first.lease.token, report18: second.lease.token }),
  },
  { operation: 'renewTicket', refused: LOST },
  ...['addTicketNote', 'listTicketNotes', 'explainClaim'].map((operation) => ({ operation })),
  { operation: 'decideTicket', refused: LOST, made: ({ next }) => ({ report19: next.lease.token }) },
  { operation: 'releaseTicket', body: 'operator' },
  { operation: 'releaseTicket', body: 'holder', refused: LOST, before: borisClaims('reports') },
  { operation: 'transferTicket', body: 'operator' },
  { operation: 'transferTicket', body: 'holder', refused: LOST, before: claraClaims },
  ...['updateTicket', 'resolveTicket', 'resolveTickets', 'invalidateTicket', 'invalidateTickets'].map((operation) => ({
    operation,
  })),
  ...['getTicket', 'listTickets', 'getQueueStats'].map((operation) => ({ operation })),
  {
    operation: 'listTicketEvents',
    until: ({ items }, isReal) => !isReal || items.some((event: Json) => event.type === 'delivered'),
  },
  { operation: 'getTicketWorkflow', until: ({ snapshot }) => snapshot !== null },
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
  ...['putTopic', 'getTopic', 'listTopics'].map((operation) => ({ operation })),
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
  ...['getJob', 'listJobEvents'].map((operation) => ({ operation })),
  { operation: 'getJobWorkflow', until: ({ snapshot }) => snapshot !== null },
  ...['listTopicJobs', 'getTopicStats', 'buryJob'].map((operation) => ({ operation })),
  ...['delete', 'finishMany', 'kick'].map((name) => command(name)),
  ...['putSchedule', 'getSchedule', 'listSchedules', 'deleteSchedule'].map((operation) => ({ operation })),
];

const reviews: Step[] = [
  ...twice({ operation: 'putReview' }),
  { operation: 'addReviewCallback', body: 'text' },
  { operation: 'addReviewCallback', body: 'picture' },
  { operation: 'addPictureCallback', body: 'later' },
  { operation: 'addPictureCallback', body: 'waiting' },
  ...['getReview', 'listReviews', 'listReviewLog', 'getReviewStats', 'getReviewStores'].map((operation) => ({
    operation,
  })),
  { operation: 'getReviewWorkflow', until: ({ snapshot }) => snapshot !== null },
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
  ...['putCourt', 'getCourt', 'listCourts', 'putJurors', 'getJuror'].map((operation) => ({ operation })),
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
  ...['getCase', 'listCases', 'listVotes', 'listCaseEvents'].map((operation) => ({ operation })),
  { operation: 'getCaseWorkflow', until: ({ snapshot }) => snapshot !== null },
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
  ...['putGoldCases', 'getCourtStats'].map((operation) => ({ operation })),
];

const tasks: Step[] = [
  ...twice({ operation: 'addTemplate' }),
  ...['getTemplate', 'listTemplates'].map((operation) => ({ operation })),
  {
    operation: 'deleteTemplate',
    before: (client) => done(client.post('/v1/templates', { id: 'price-check-2025', name: 'Check a price' })),
  },
  ...['putGroup', 'getGroup', 'listGroups', 'updateGroupMembers'].map((operation) => ({ operation })),
  ...twice({ operation: 'addTask', body: 'once' }),
  { operation: 'addTask', body: 'daily' },
  ...['getTask', 'updateTask', 'listTasks'].map((operation) => ({ operation })),
  { operation: 'pullTask', made: ({ logId }) => ({ emil: logId }) },
  { operation: 'getOccurrenceWorkflow', until: ({ snapshot }) => snapshot !== null },
  { operation: 'completeTask', refused: { status: 409, code: 'stale_log_id' } },
  { operation: 'listDispatches' },
  { operation: 'listOccurrenceDeliveries', until: isDelivered },
  { operation: 'listOccurrenceEvents' },
  { operation: 'redeliverOccurrenceDelivery' },
  { operation: 'deleteTask' },
];

const FORBIDDEN = { status: 403, code: 'forbidden' };
const system: Step[] = [
  ...['getOverview', 'getAttention', 'findItems', 'getFigures', 'getPeopleFigures', 'getLateness'].map((operation) => ({
    operation,
  })),
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
  ...['getSignInWays', 'getSession', 'listKeys', 'listAdminLog'].map((operation) => ({ operation })),
  { operation: 'revokeKey', refused: { status: 404, code: 'not_found' } },
  { operation: 'signOut' },
  ...['getLiveness', 'getReadiness', 'getMetrics', 'listNodes'].map((operation) => ({ operation })),
];

export const STORY: Step[] = [...tickets, ...jobs, ...reviews, ...courts, ...tasks, ...system];
