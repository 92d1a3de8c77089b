/** What a field of a body takes; test/api/bad-input.test.ts has the wrong values for each. */
export type FieldKind =
  | 'name'
  | 'names'
  | 'requires'
  | 'priority'
  | 'seconds'
  | 'positiveSeconds'
  | 'waitSeconds'
  | 'wholeSeconds'
  | 'timezone'
  | 'jobPriority'
  | 'status'
  | 'auditKind'
  | 'pictureKind'
  | 'time'
  | 'flag'
  | 'count'
  | 'positiveCount'
  | 'callback'
  | 'object'
  | 'list'
  | 'form'
  | 'token'
  | 'reason'
  | 'text'
  | 'share'
  | 'option'
  | 'options'
  | 'window'
  | 'assign'
  | 'strategy'
  | 'quality'
  | 'fallback'
  | 'courtMode'
  | 'lateVotes'
  | 'taskType'
  | 'executor'
  | 'dailyTime'
  | 'dispatch'
  | 'catchUp'
  | 'templateParams'
  | 'params'
  | 'exclude'
  | 'json';

interface Field {
  kind: FieldKind;
  value: unknown;
  required?: boolean;
  /** null means something here. */
  nullable?: boolean;
}

export type Sample = Record<string, Field>;

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const callback = { url: 'https://example.com/hook', secret: SECRET };
const skills: Field = { kind: 'names', value: ['de'] };
const reason: Field = { kind: 'reason', value: 'because', required: true };
const json = { kind: 'json', required: true } as const;

const audit: Sample = {
  status: { kind: 'status', value: 2, required: true },
  auditTime: { kind: 'time', value: '2026-01-02T03:04:05.678Z' },
  callbackId: { kind: 'name', value: 'sample-callback' },
  waitSeconds: { kind: 'waitSeconds', value: 0 },
};

const taskFields: Sample = {
  executor: { kind: 'executor', value: 'gid_some-gid', required: true },
  startTime: { kind: 'time', value: '2026-01-02T03:04:05.678Z', required: true },
  dailyTime: { kind: 'dailyTime', value: '09:00', nullable: true },
  everyDays: { kind: 'positiveCount', value: 2 },
  timezone: { kind: 'timezone', value: 'Europe/Berlin' },
  templateId: { kind: 'name', value: 'some-id', required: true },
  params: { kind: 'params', value: {} },
  ...{ dispatchTimes: { kind: 'positiveCount', value: 6 }, dispatch: { kind: 'dispatch', value: 'blocking' } },
  ...{ catchUp: { kind: 'catchUp', value: 'newest' }, lookbackSeconds: { kind: 'seconds', value: 3600 } },
  answerSeconds: { kind: 'positiveSeconds', value: 60, nullable: true },
  endTime: { kind: 'time', value: '2027-01-02T03:04:05.678Z', nullable: true },
  callback: { kind: 'callback', value: callback, nullable: true },
};

/** A valid body for every endpoint that takes one, by method and path. */
export const SAMPLES: Record<string, Sample> = {
  'put /v1/queues/{queue}': {
    leaseSeconds: { kind: 'positiveSeconds', value: 300 },
    ageing: { kind: 'object', value: { secondsPerLevel: 60 }, nullable: true },
    escalations: { kind: 'list', value: [{ afterSeconds: 60, priority: 5 }] },
    reclaimedFirst: { kind: 'flag', value: true },
    maxHeld: { kind: 'positiveCount', value: 2 },
    maxAttempts: { kind: 'positiveCount', value: 3, nullable: true },
    deadlineSeconds: { kind: 'seconds', value: 86_400, nullable: true },
    callback: { kind: 'callback', value: callback, nullable: true },
    form: { kind: 'form', value: { type: 'object' }, nullable: true },
    rules: { kind: 'list', value: [{ when: { properties: { body: { type: 'object' } } }, add: 5, requires: ['de'] }] },
    dryRun: { kind: 'flag', value: false },
  },
  'post /v1/session': { key: { kind: 'token', value: 'docket_sample', required: true } },
  'post /v1/keys': {
    ...{ role: { kind: 'name', value: 'reviewer', required: true }, subject: { kind: 'name', value: 'anna' } },
    queues: { kind: 'list', value: ['reports', 'urgent-*'], nullable: true },
    expiresAt: { kind: 'time', value: '2099-01-02T03:04:05.678Z', nullable: true },
  },
  'post /v1/queues/{queue}/tickets': {
    id: { kind: 'name', value: 'sample-1' },
    priority: { kind: 'priority', value: 3 },
    body: { ...json, value: { text: 'hello' } },
    requires: { kind: 'requires', value: ['de'] },
    exclude: { kind: 'names', value: ['eve'] },
    ...{ delaySeconds: { kind: 'seconds', value: 3600 }, deadlineSeconds: { kind: 'seconds', value: 7200 } },
    createdAt: { kind: 'time', value: '2026-01-02T03:04:05.678Z' },
    callback: { kind: 'callback', value: callback },
  },
  'post /v1/queues/{queue}/tickets/batch': {
    tickets: { kind: 'list', value: [{ id: 'sample-2', body: 1 }], required: true },
  },
  'post /v1/queues/{queue}/claim': {
    reviewer: { kind: 'name', value: 'rita' },
    skills,
    count: { kind: 'positiveCount', value: 1 },
    waitSeconds: { kind: 'waitSeconds', value: 0 },
  },
  'post /v1/tickets/{id}/decide': {
    token: { kind: 'token', value: 'lt_sample', required: true },
    decision: { ...json, value: { verdict: 'keep' } },
    next: { kind: 'flag', value: false },
    skills,
  },
  'post /v1/tickets/{id}/renew': { token: { kind: 'token', value: 'lt_sample', required: true } },
  'post /v1/tickets/{id}/release': {
    token: { kind: 'token', value: 'lt_sample' },
    delaySeconds: { kind: 'seconds', value: 60 },
    reason: { kind: 'text', value: 'lunch' },
    skip: { kind: 'flag', value: true },
  },
  'post /v1/tickets/{id}/notes': { text: reason, reviewer: { kind: 'name', value: 'anna' } },
  'post /v1/tickets/{id}/transfer': {
    queue: { kind: 'name', value: 'elsewhere', required: true },
    token: { kind: 'token', value: 'lt_sample' },
    reason: { kind: 'text', value: 'not ours' },
  },
  'post /v1/tickets/resolve': {
    items: { kind: 'list', value: [{ id: 'sample-3', decision: 1 }], required: true },
    reason,
  },
  'post /v1/tickets/{id}/resolve': { decision: { ...json, value: 'gone' }, reason },
  'post /v1/tickets/{id}/invalidate': { reason },
  'post /v1/jobs/{id}/bury': { reason },
  'post /v1/queues/{queue}/invalidate': {
    ids: { kind: 'requires', value: ['sample-4'], required: true },
    reason,
    dryRun: { kind: 'flag', value: true },
  },
  'patch /v1/tickets/{id}': {
    priority: { kind: 'priority', value: 9 },
    body: { kind: 'json', value: [1, 2] },
    requires: { kind: 'requires', value: ['de'] },
    exclude: { kind: 'names', value: ['eve'] },
    deadlineAt: { kind: 'time', value: '2099-01-02T03:04:05.678Z', nullable: true },
  },
  'put /v1/topics/{topic}': {
    ...{ maxAttempts: { kind: 'positiveCount', value: 3, nullable: true }, paused: { kind: 'flag', value: true } },
    push: { kind: 'callback', value: { ...callback, concurrency: 5 }, nullable: true },
  },
  'put /v1/topics/{topic}/schedules/{name}': {
    everySeconds: { kind: 'wholeSeconds', value: 3600, required: true },
    timezone: { kind: 'timezone', value: 'Europe/Berlin' },
    body: { ...json, value: { n: 1 } },
    TTR: { kind: 'wholeSeconds', value: 60 },
    priority: { kind: 'jobPriority', value: 1024 },
  },
  'put /v1/reviews/{id}': {
    text: { kind: 'object', value: { status: 1 }, required: true },
    pictures: { kind: 'list', value: [{ id: 'sample-picture', status: 1 }] },
    replies: { kind: 'list', value: [{ id: 'sample-reply', status: 1 }] },
    body: { kind: 'json', value: { words: 'hello' } },
    callback: { kind: 'callback', value: callback, nullable: true },
  },
  'post /v1/reviews/{id}/callbacks': {
    kind: { kind: 'auditKind', value: 'picture', required: true },
    targetId: { kind: 'name', value: 'sample-picture', required: true },
    ...audit,
  },
  'post /v1/pictures/{pictureId}/callbacks': {
    kind: { kind: 'pictureKind', value: 'picture' },
    targetId: { kind: 'name', value: 'some-pictureId' },
    ...audit,
  },
  'put /v1/courts/{court}': {
    options: { kind: 'options', value: ['buyer', 'seller', 'neither'] },
    votesToWin: { kind: 'positiveCount', value: 3 },
    panel: { kind: 'positiveCount', value: 5, nullable: true },
    leaseSeconds: { kind: 'positiveSeconds', value: 60 },
    overbook: { kind: 'count', value: 1 },
    window: { kind: 'window', value: { cases: 5, seconds: 3600 }, nullable: true },
    votesPerDay: { kind: 'positiveCount', value: 20, nullable: true },
    deadlineSeconds: { kind: 'seconds', value: 86_400, nullable: true },
    mode: { kind: 'courtMode', value: 'both' },
    assign: { kind: 'assign', value: { jurors: 5, answerSeconds: 60, perJurorPerDay: 3 } },
    lateVotes: { kind: 'lateVotes', value: 'record' },
    strategy: { kind: 'strategy', value: { admit: 'all', pick: 'closest', decide: 'majority' } },
    quality: { kind: 'quality', value: { agreement: 0.6, after: 10 }, nullable: true },
    goldShare: { kind: 'share', value: 0.2 },
    fallback: { kind: 'fallback', value: { queue: 'experts' }, nullable: true },
    callback: { kind: 'callback', value: callback, nullable: true },
    invitationCallback: { kind: 'callback', value: callback, nullable: true },
    dryRun: { kind: 'flag', value: true },
  },
  'put /v1/courts/{court}/jurors': {
    jurors: { kind: 'list', value: [{ id: 'rita', person: 'rita-1', eligible: true, invite: false }], required: true },
    list: { kind: 'name', value: 'today' },
    first: { kind: 'flag', value: true },
    final: { kind: 'flag', value: false },
  },
  'put /v1/courts/{court}/gold': {
    cases: { kind: 'list', value: [{ id: 'sample-gold', body: 1, answer: 'buyer' }], required: true },
  },
  'post /v1/courts/{court}/cases': {
    id: { kind: 'name', value: 'sample-case' },
    parties: { kind: 'list', value: [{ id: 'anna', person: 'anna-1' }] },
    body: { ...json, value: { text: 'hello' } },
    deadlineSeconds: { kind: 'seconds', value: 7200 },
    callback: { kind: 'callback', value: callback },
  },
  'post /v1/courts/{court}/cases/batch': {
    cases: { kind: 'list', value: [{ id: 'sample-case-2', body: 1 }], required: true },
  },
  'post /v1/courts/{court}/claim': { juror: { kind: 'name', value: 'rita', required: true } },
  'post /v1/cases/{id}/votes': {
    token: { kind: 'token', value: 'lt_sample', required: true },
    option: { kind: 'option', value: 'buyer', required: true },
    comment: { kind: 'text', value: 'as it looks' },
  },
  'post /v1/cases/{id}/renew': { token: { kind: 'token', value: 'lt_sample', required: true } },
  'post /v1/cases/{id}/release': {
    token: { kind: 'token', value: 'lt_sample', required: true },
    skip: { kind: 'flag', value: true },
  },
  'post /v1/cases/{id}/decline': { token: { kind: 'token', value: 'lt_sample', required: true } },
  'post /v1/cases/{id}/invalidate': { reason },
  'post /v1/templates': {
    id: { kind: 'name', value: 'sample-template' },
    name: { kind: 'reason', value: 'Sample', required: true },
    params: { kind: 'templateParams', value: { a: { type: 'string' } } },
  },
  'put /v1/groups/{gid}': { members: { kind: 'names', value: ['rita'] } },
  'post /v1/groups/{gid}/members': {
    add: { kind: 'names', value: ['rita'] },
    remove: { kind: 'names', value: ['otto'] },
  },
  'post /v1/tasks': {
    id: { kind: 'name', value: 'sample-task' },
    type: { kind: 'taskType', value: 'rotate', required: true },
    ...taskFields,
  },
  'patch /v1/tasks/{id}': {
    everyMinutes: { kind: 'positiveCount', value: 30, nullable: true },
    ...Object.fromEntries(Object.entries(taskFields).map(([name, field]) => [name, { ...field, required: false }])),
  },
  'post /v1/clients/{uid}/next': {
    exclude: { kind: 'exclude', value: ['some-id', 'some-id/2026-01-02T03:04:05.678Z'] },
    waitSeconds: { kind: 'waitSeconds', value: 0 },
  },
  'post /v1/clients/{uid}/complete': {
    logId: { kind: 'token', value: 'lt_sample', required: true },
    result: { kind: 'json', value: { done: true } },
  },
  'post /v1/queues/{queue}/explain': {
    reviewer: { kind: 'name', value: 'rita' },
    skills,
    ticket: { kind: 'name', value: 'sample-5' },
  },
};
