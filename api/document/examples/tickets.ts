import { callbackTo, type Examples, MADE, NOW, workflowAnswer } from './example.ts';

// A message is reported; anna looks at the report and removes the message.

const QUEUE = { queue: 'reports' };
const of = (id: string) => ({ path: { id } });
const report = (id: string, message: string, text: string) => ({ id, body: { message, text } });
const remove = { verdict: 'remove', rule: 'spam' };

export const ticketExamples: Examples = {
  putQueue: {
    path: QUEUE,
    body: {
      leaseSeconds: 300,
      maxHeld: 2,
      maxAttempts: 3,
      escalations: [{ afterSeconds: 3600, priority: 10 }],
      callback: callbackTo('verdicts'),
      form: { type: 'object', required: ['verdict'], properties: { verdict: { enum: ['keep', 'remove'] } } },
    },
  },
  getQueue: { path: QUEUE },
  listQueues: {},
  deleteQueue: { path: { queue: 'reports-2025' } },
  pauseQueue: { path: QUEUE },
  resumeQueue: { path: QUEUE },
  getQueueStats: { path: QUEUE },
  addTicket: {
    path: QUEUE,
    body: {
      ...report('report-17', 'message-4711', 'Followers for sale, 5 € a thousand!'),
      priority: 5,
      requires: ['en'],
    },
  },
  addTickets: {
    path: QUEUE,
    body: {
      tickets: [
        report('report-18', 'message-4712', 'You are a disgrace'),
        report('report-19', 'message-4713', 'Cheap watches, link in my profile'),
        report('report-20', 'message-4714', 'Cheap watches, link in my profile'),
        report('report-21', 'message-4715', 'This is a message by mistake'),
        report('report-22', 'message-4711', 'Followers for sale, 5 € a thousand!'),
      ],
    },
  },
  claimTickets: { path: QUEUE, body: { reviewer: 'anna', skills: ['en'], count: 2, waitSeconds: 5 } },
  explainClaim: { path: QUEUE, body: { reviewer: 'boris', skills: ['en'], ticket: 'report-19' } },
  renewTicket: { ...of('report-17'), body: { token: MADE.report17 } },
  decideTicket: { ...of('report-17'), body: { token: MADE.report17, decision: remove, next: true, skills: ['en'] } },
  releaseTicket: {
    ...of('report-18'),
    bodies: {
      operator: { summary: 'An operator takes it from its holder', value: { reason: 'their shift is over' } },
      holder: {
        summary: 'Its holder gives it back and does not want it again',
        value: { token: MADE.report18, reason: 'not my language', skip: true },
      },
    },
  },
  transferTicket: {
    ...of('report-18'),
    bodies: {
      operator: { summary: 'By an operator', value: { queue: 'harassment', reason: 'no spam, but an insult' } },
      holder: {
        summary: 'By its holder, back to where it came from',
        value: { queue: 'reports', token: MADE.report18, reason: 'spam after all' },
      },
    },
  },
  resolveTicket: { ...of('report-19'), body: { decision: remove, reason: 'the account was closed' } },
  resolveTickets: {
    body: { items: [{ id: 'report-20', decision: remove }], reason: 'the account was closed' },
  },
  invalidateTicket: { ...of('report-21'), body: { reason: 'the author deleted the message' } },
  invalidateTickets: { path: QUEUE, body: { ids: ['report-22'], reason: 'the same message as in report-17' } },
  updateTicket: { ...of('report-20'), body: { priority: 3 } },
  getTicket: of('report-17'),
  listTickets: { query: { queue: 'reports', state: 'decided' } },
  addTicketNote: { ...of('report-17'), body: { text: 'The third report of this account', reviewer: 'anna' } },
  listTicketNotes: of('report-17'),
  listTicketEvents: of('report-17'),
  getTicketWorkflow: { ...of('report-18'), answers: workflowAnswer('ticket/report-18', 'waiting', null) },
  listTicketDeliveries: of('report-19'),
  redeliverTicketDelivery: { path: { id: 'report-19', n: 1 } },
  listDeliveries: { query: { kind: 'case', state: 'delivered' } },
  redeliverDelivery: { path: { kind: 'ticket', itemId: 'report-20', n: 1 } },
  openStream: {
    query: { queue: 'reports' },
    answers: { 200: 'retry: 1000\n\nid: 42\n\nid: 42\nevent: available\ndata: {"queue":"reports"}\n\n' },
  },
  readFeed: {
    query: { limit: 3 },
    answers: {
      200: {
        seq: 1,
        id: 'ticket/report-17/1',
        kind: 'ticket',
        itemId: 'report-17',
        type: 'created',
        actor: 'platform',
        at: NOW,
        data: { state: 'ready' },
      },
    },
  },
};
