import { callbackTo, EARLIER, type Examples, MADE, workflowAnswer } from './example.ts';

// Couriers are asked to check the price of a machine in a shop; emil does.

const GROUP = { gid: 'couriers' };
const TASK = { path: { id: 'check-price-1' } };
const OCCURRENCE = { id: 'check-price-1', occurrence: EARLIER };
const params = { product: 'espresso machine', limit: 250 };
const TEN_YEARS = 315_360_000;
const shown = (summary: string, value: object) => ({ summary, value });

export const taskExamples: Examples = {
  addTemplate: {
    body: {
      id: 'price-check',
      name: 'Check a price',
      params: { product: { type: 'string' }, limit: { type: 'number', required: false } },
    },
  },
  getTemplate: { path: { id: 'price-check' } },
  listTemplates: {},
  deleteTemplate: { path: { id: 'price-check-2025' } },
  putGroup: { path: GROUP, body: { members: ['emil', 'fiona'] } },
  getGroup: { path: GROUP },
  listGroups: {},
  updateGroupMembers: { path: GROUP, body: { add: ['gustav'], remove: ['fiona'] } },
  addTask: {
    bodies: {
      once: shown('Once, for one user of a group', {
        ...{ id: 'check-price-1', type: 'once', executor: 'gid_couriers', startTime: EARLIER },
        ...{ templateId: 'price-check', params, lookbackSeconds: TEN_YEARS, callback: callbackTo('prices') },
      }),
      daily: shown('Every day at nine, for one user', {
        ...{ id: 'check-price-daily', type: 'rotate', executor: 'uid_hanna', startTime: EARLIER },
        ...{ dailyTime: '09:00', timezone: 'Europe/Berlin', templateId: 'price-check', params, catchUp: 'newest' },
      }),
    },
  },
  listTasks: { query: { executor: 'gid_couriers' } },
  getTask: TASK,
  updateTask: { ...TASK, body: { params: { ...params, limit: 240 } } },
  deleteTask: TASK,
  pullTask: { path: { uid: 'emil' }, body: { waitSeconds: 5 } },
  completeTask: { path: { uid: 'emil' }, body: { logId: MADE.emil, result: { price: 249 } } },
  listDispatches: { query: { uid: 'emil' } },
  listOccurrenceEvents: { path: OCCURRENCE },
  getOccurrenceWorkflow: {
    path: OCCURRENCE,
    answers: workflowAnswer(`task/check-price-1/${EARLIER}`, 'due', null),
  },
  listOccurrenceDeliveries: { path: OCCURRENCE },
  redeliverOccurrenceDelivery: { path: { ...OCCURRENCE, n: 1 } },
};
