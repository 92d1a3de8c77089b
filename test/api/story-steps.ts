import { expect } from 'vitest';
import { type Client, claimOne, eventually, type Json } from '../support/client.ts';
import { inMs } from '../support/times.ts';
import type { Step } from './story.ts';

// The order in which the document's examples are called: what is read was made before.

const LOST = { status: 409, code: 'lease_lost' };
const twice = (step: Step): Step[] => [step, step];
/** Calls that need nothing said of them. */
const plain = (operations: string): Step[] => operations.split(' ').map((operation) => ({ operation }));

const isKnown = ({ snapshot }: Json) => snapshot !== null;
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

/** Somebody holds report-18. */
const claims =
  (reviewer: string, queue: string): Step['before'] =>
  async (client, made) => {
    const { id, lease } = await claimOne(client, queue, reviewer, { skills: ['de'] });
    expect(id).toBe('report-18');
    made.report18 = lease.token;
  };

const tickets: Step[] = [
  ...plain('putQueue getQueue listQueues putGoldTickets listGoldTickets pauseQueue resumeQueue'),
  { operation: 'deleteQueue', before: (client) => done(client.put('/v1/queues/reports-2025', {})) },
  ...twice({ operation: 'addTicket' }),
  ...plain('addTickets'),
  ...twice({ operation: 'addTicketSuggestion' }),
  ...plain('listUnsuggested'),
  {
    operation: 'claimTickets',
    made: ({ tickets: [first, second] }) => ({ report17: first.lease.token, report18: second.lease.token }),
  },
  ...plain('claimFromQueues'),
  { operation: 'renewTicket', refused: LOST },
  { operation: 'putTicketDraft', refused: LOST },
  ...plain('getTicketDraft getTicketContext'),
  ...plain('addTicketNote listTicketNotes putReviewer getReviewer listReviewers explainClaim explainWho'),
  { operation: 'deleteReviewer', before: (client) => done(client.put('/v1/reviewers/jonas', {})) },
  { operation: 'decideTicket', refused: LOST, made: ({ next }) => ({ report19: next.lease.token }) },
  ...plain('disputeTicket'),
  ...twice({ operation: 'addTicketLook', made: ({ id }) => ({ look: id }) }),
  { operation: 'releaseTicket', body: 'operator' },
  { operation: 'releaseTicket', body: 'holder', refused: LOST, before: claims('boris', 'reports') },
  {
    operation: 'transferTicket',
    body: 'operator',
    before: (client) => done(client.put('/v1/queues/harassment', {})),
  },
  // who skipped a ticket is not offered it again
  { operation: 'transferTicket', body: 'holder', refused: LOST, before: claims('clara', 'harassment') },
  ...plain('updateTicket resolveTicket resolveTickets invalidateTicket invalidateTickets invalidateSubject'),
  ...plain(
    'getTicket listTickets listTicketsCsv putView listViews deleteView putMacro listMacros deleteMacro getQueueStats getSuggestionFigures getService getQueueQuality getQueueQualityCsv',
  ),
  {
    operation: 'listTicketEvents',
    until: ({ items }, isReal) => !isReal || items.some((event: Json) => event.type === 'delivered'),
  },
  { operation: 'getTicketWorkflow', until: isKnown },
  { operation: 'listTicketDeliveries', until: isDelivered },
  ...plain('redeliverTicketDelivery'),
  { operation: 'redeliverDelivery', before: delivered('/v1/tickets/report-20/deliveries') },
];

const command = (body: string, more: Partial<Step> = {}): Step => ({ operation: 'runJobCommand', body, ...more });
const pop = async (client: Client) =>
  (await done(client.post('/v1/jobs', { command: 'pop', topic: 'orderclose' }))).token;

const jobs: Step[] = [
  ...plain('putTopic getTopic listTopics'),
  { operation: 'deleteTopic', before: (client) => done(client.put('/v1/topics/orderclose-2025', {})) },
  ...['add', 'addMany'].map((name) => command(name)),
  command('pop', { made: ({ token }) => ({ order2: token }) }),
  ...['touch', 'finish'].map((name) => command(name)),
  command('release', { before: async (client, made) => Object.assign(made, { order3: await pop(client) }) }),
  command('bury', { before: async (client, made) => Object.assign(made, { order3Again: await pop(client) }) }),
  ...['kickOne', 'peek'].map((name) => command(name)),
  ...plain('getJob listJobEvents'),
  { operation: 'getJobWorkflow', until: isKnown },
  ...plain('listTopicJobs getTopicStats buryJob'),
  ...['delete', 'finishMany', 'kick'].map((name) => command(name)),
  ...plain('putSchedule getSchedule listSchedules deleteSchedule'),
];

const reviews: Step[] = [
  ...twice({ operation: 'putReview' }),
  { operation: 'addReviewCallback', body: 'text' },
  { operation: 'addReviewCallback', body: 'picture' },
  { operation: 'addPictureCallback', body: 'later' },
  { operation: 'addPictureCallback', body: 'waiting' },
  ...plain('getReview listReviews listReviewLog getReviewStats getReviewStores'),
  { operation: 'getReviewWorkflow', until: isKnown },
  { operation: 'listReviewDeliveries', until: isDelivered },
  ...plain('redeliverReviewDelivery'),
];

/** greta is invited to judge dispute-9. */
async function gretaIsInvited(client: Client): Promise<void> {
  const assign = { jurors: 1, answerSeconds: 3600 };
  await done(client.put('/v1/courts/experts', { mode: 'assign', votesToWin: 1, assign }));
  await done(client.put('/v1/courts/experts/jurors', { jurors: [{ id: 'greta' }] }));
  await done(client.post('/v1/courts/experts/cases', { id: 'dispute-9', body: { claim: 'It is no original' } }));
}

const courts: Step[] = [
  ...plain('putCourt getCourt listCourts putJurors getJuror'),
  { operation: 'deleteCourt', before: (client) => done(client.put('/v1/courts/disputes-2025', {})) },
  ...twice({ operation: 'addCase' }),
  ...plain('addCases'),
  { operation: 'claimCase', made: ({ lease }) => ({ carla: lease.token }) },
  ...plain('explainCase'),
  { operation: 'renewCase', refused: LOST },
  {
    operation: 'releaseCase',
    refused: LOST,
    before: async (client, made) => {
      made.david = (await done(client.post('/v1/courts/disputes/claim', { juror: 'david' }))).lease.token;
    },
  },
  { operation: 'castVote', refused: LOST },
  ...plain('getCase listCases listVotes listCaseEvents'),
  { operation: 'getCaseWorkflow', until: isKnown },
  ...plain('updateCase invalidateCase'),
  { operation: 'listCaseDeliveries', until: isDelivered },
  ...plain('listDeliveries redeliverCaseDelivery'),
  {
    operation: 'listInvitations',
    before: gretaIsInvited,
    until: ({ items }) => items.length > 0,
    made: ({ items: [invitation] }) => ({ greta: invitation.token }),
  },
  { operation: 'declineCase', refused: LOST },
  ...plain('resolveCase'),
  ...twice({ operation: 'addCaseLook', made: ({ id }) => ({ caseLook: id }) }),
  ...plain('putGoldCases getCourtStats'),
];

const tasks: Step[] = [
  ...twice({ operation: 'addTemplate' }),
  ...plain('getTemplate listTemplates'),
  {
    operation: 'updateTemplate',
    before: (client) => done(client.post('/v1/templates', { id: 'price-check-2025', name: 'Check a price' })),
  },
  ...plain('deleteTemplate'),
  ...plain('putGroup getGroup listGroups updateGroupMembers'),
  ...twice({ operation: 'addTask', body: 'once' }),
  { operation: 'addTask', body: 'daily' },
  ...plain('getTask updateTask listTasks'),
  { operation: 'pullTask', made: ({ logId }) => ({ emil: logId }) },
  ...plain('explainTask'),
  { operation: 'getOccurrenceWorkflow', until: isKnown },
  { operation: 'completeTask', refused: { status: 409, code: 'stale_log_id' } },
  {
    operation: 'releaseTask',
    made: ({ logId }) => ({ frida: logId }),
    before: async (client) => {
      const task = { type: 'once', executor: 'uid_frida', startTime: inMs(-1000), templateId: 'price-check' };
      await done(client.post('/v1/tasks', { ...task, params: { product: 'kettle', limit: 30 } }));
      await done(client.post('/v1/clients/frida/next', {}));
    },
  },
  ...plain('listDispatches'),
  { operation: 'listOccurrenceDeliveries', until: isDelivered },
  ...plain('listOccurrenceEvents redeliverOccurrenceDelivery deleteTask'),
];

const FORBIDDEN = { status: 403, code: 'forbidden' };
const system: Step[] = [
  ...plain('getOverview getAttention findItems getFigures getPeopleFigures getLateness'),
  { operation: 'openStream', isEndless: true },
  ...plain('readFeed'),
  {
    operation: 'addStreamTicket',
    refused: FORBIDDEN,
    needsKeys: true,
    made: ({ ticket }) => ({ streamTicket: ticket }),
  },
  { operation: 'addKey', made: ({ id, key }) => ({ keyId: id, key }) },
  { operation: 'signIn', refused: FORBIDDEN, needsKeys: true },
  ...plain('getSignInWays getSession putDefaults getDefaults listKeys listAdminLog'),
  { operation: 'revokeKey', refused: { status: 404, code: 'not_found' } },
  // last: its review is in all that comes before
  { operation: 'addErasure', made: ({ id }) => ({ erasure: id }) },
  { operation: 'getErasure', refused: { status: 404, code: 'not_found' }, until: ({ state }) => state === 'done' },
  ...plain('signOut getLiveness getReadiness getMetrics listNodes'),
];

export const STORY: Step[] = [...tickets, ...jobs, ...reviews, ...courts, ...tasks, ...system];
