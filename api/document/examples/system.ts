import { EARLIER, type Examples, MADE, NOW } from './example.ts';

// What the people who run it look at; and keys.

const YESTERDAY = '2026-11-20T09:30:00.000Z';
const four = (value: number | null) => [value, value, value, value];
const time = { from: YESTERDAY, to: NOW, partial: false, coveredFrom: YESTERDAY };
const reports = {
  ...{ name: 'reports', paused: false, createdAt: NOW },
  ...{ delayed: 0, waiting: 1, held: 1, buried: 0, settled: 2, invalidated: 2, expired: 0, dead: 0 },
  ...{
    oldestWaitingSeconds: 12.5,
    handedOutLastMinute: 3,
    settledLastMinute: 2,
    leaseExpiries: 0,
    failedDeliveries: 0,
  },
};

export const systemExamples: Examples = {
  getOverview: {
    query: { kind: 'ticket' },
    answers: { 200: { queues: { items: [reports], nextCursor: null } } },
  },
  getAttention: {
    answers: {
      200: {
        waitingTooLong: [{ kind: 'ticket', name: 'reports', oldestWaitingSeconds: 7301.5, targetSeconds: 3600 }],
        pausedWithWork: [],
        failedDeliveries: { total: 0, queues: [] },
        oldestPendingDeliverySeconds: 0,
        parked: { total: 0, items: [] },
        engines: { postgres: 'ok', temporal: 'ok', worker: 'ok', unpublishedOldestSeconds: 0, nodes: 1 },
      },
    },
  },
  findItems: { query: { id: 'report-2' } },
  getFigures: {
    query: { kind: 'ticket', queue: 'reports', step: 21_600 },
    answers: {
      200: {
        ...{ kind: 'ticket', queue: 'reports', from: YESTERDAY, to: NOW, stepSeconds: 21_600 },
        series: {
          ...{ delayed: four(0), waiting: four(1), held: four(1), buried: four(0) },
          ...{ oldestWaitingSeconds: four(13), failedDeliveries: four(0), added: four(6), handedOut: four(3) },
          ...{ settled: four(2), invalidated: four(2), expired: four(0), dead: four(0), leaseExpiries: four(0) },
          ...{ votes: four(null), wasted: four(null) },
        },
      },
    },
  },
  getPeopleFigures: {
    query: { kind: 'ticket', queue: 'reports' },
    answers: {
      200: {
        ...time,
        reviewers: [{ person: 'anna', decisions: 1, medianHandlingSeconds: 14.2, skips: 0, releases: 0, expiries: 0 }],
        jurors: [],
      },
    },
  },
  getLateness: {
    query: { kind: 'ticket', queue: 'reports' },
    answers: {
      200: {
        ...{ ...time, handedOut: 3, p50: 0.8, p99: 2.1, max: 2.1 },
        buckets: [
          { fromSeconds: 0, toSeconds: 1, count: 2 },
          { fromSeconds: 1, toSeconds: null, count: 1 },
        ],
      },
    },
  },
  addStreamTicket: {},
  getSignInWays: {},
  signIn: { body: { key: MADE.key } },
  getSession: {},
  signOut: {},
  addKey: { body: { role: 'reviewer', subject: 'anna', queues: ['reports', 'harassment'] } },
  listKeys: {},
  listAdminLog: {
    query: { path: '/v1/queues/reports' },
    answers: {
      200: {
        items: [
          {
            ...{ seq: 12, at: NOW, keyId: 'e3b0c44298fc', actor: 'olga', operation: 'pauseQueue' },
            ...{ path: '/v1/queues/reports/pause', body: null, status: 200 },
            requestId: '2c1f7c4e-0d7e-4a55-9a4f-6b1f0f2d9a10',
          },
        ],
        nextCursor: null,
      },
    },
  },
  revokeKey: { path: { id: MADE.keyId } },
  getLiveness: { answers: { 200: { status: 'ok' } } },
  getReadiness: {
    answers: {
      200: { status: 'ok', postgres: 'ok', schema: 'ok', temporal: 'ok' },
      503: { status: 'unavailable', postgres: 'unreachable', schema: 'unknown', temporal: 'ok' },
    },
  },
  getMetrics: {
    answers: { 200: '# HELP docket_waiters Long polls\n# TYPE docket_waiters gauge\ndocket_waiters 2\n' },
  },
  listNodes: {
    answers: { 200: { items: [{ id: 'host-1-4711', url: 'http://127.0.0.1:3000', seenAt: EARLIER }] } },
  },
};
