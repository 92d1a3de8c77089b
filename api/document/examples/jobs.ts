import { type Examples, MADE, workflowAnswer } from './example.ts';

// An order is closed unless it is paid for within half an hour; another job reports on each day.

const TOPIC = { topic: 'orderclose' };
const SCHEDULE = { topic: 'orderclose', name: 'daily-report' };
const order = (order: number, delay?: number) => ({
  ...{ topic: 'orderclose', id: `order-${order}`, ...(delay && { delay }) },
  ...{ TTR: 60, body: { order } },
});
const shown = (summary: string, value: object) => ({ summary, value });

export const jobExamples: Examples = {
  putTopic: { path: TOPIC, body: { maxAttempts: 5 } },
  getTopic: { path: TOPIC },
  listTopics: {},
  deleteTopic: { path: { topic: 'orderclose-2025' } },
  getTopicStats: { path: TOPIC },
  listTopicJobs: { path: TOPIC, query: { state: 'delayed' } },
  runJobCommand: {
    bodies: {
      add: shown('Close an order in half an hour', { command: 'add', ...order(1, 1800) }),
      addMany: shown('Add several at once', { command: 'add', jobs: [order(2), order(3)] }),
      pop: shown('Wait up to 5 s for the next job', { command: 'pop', topic: 'orderclose', wait: 5 }),
      touch: shown('A full TTR again', { command: 'touch', id: 'order-2', token: MADE.order2 }),
      finish: shown('It is done', { command: 'finish', id: 'order-2', token: MADE.order2 }),
      release: shown('Give it back', { command: 'release', id: 'order-3', token: MADE.order3 }),
      bury: shown('Put it aside', { command: 'bury', id: 'order-3', token: MADE.order3Again }),
      kickOne: shown('Make it ready again', { command: 'kick', id: 'order-3' }),
      kick: shown('Make buried jobs ready again', { command: 'kick', topic: 'orderclose', count: 10 }),
      peek: shown('Look at a job', { command: 'peek', id: 'order-1' }),
      delete: shown('The order was paid for', { command: 'delete', id: 'order-1' }),
      finishMany: shown('Several are done', { command: 'finish', jobs: [{ id: 'order-3' }] }),
    },
  },
  getJob: { path: { id: 'order-1' } },
  buryJob: { path: { id: 'order-3' }, body: { reason: 'the shop is closed for today' } },
  listJobEvents: { path: { id: 'order-1' } },
  getJobWorkflow: {
    path: { id: 'order-1' },
    answers: workflowAnswer('job/order-1', 'delayed', '2026-11-21T10:00:00.000Z'),
  },
  putSchedule: {
    path: SCHEDULE,
    body: { cron: '0 6 * * *', timezone: 'Europe/Berlin', body: { report: 'yesterday' }, TTR: 600 },
  },
  getSchedule: { path: SCHEDULE },
  listSchedules: { path: TOPIC },
  deleteSchedule: { path: SCHEDULE },
};
