import { setTimeout as sleep } from 'node:timers/promises';
import { makeCourt, numbered, putList } from '../cases/court.ts';
import { type Caller, need } from '../client.ts';
import { BODY } from '../seed.ts';
import type { Transition } from './model.ts';

/** What one life has been given so far. Lives of a kind share a queue, so one may settle what another one added. */
export interface Life {
  n: number;
  id: string;
  token: string;
}

export interface Step {
  name: string;
  /** Where it is not that of its kind. */
  message?: Transition['message'];
  call(caller: Caller, life: Life): Promise<void>;
}

export interface LifeKind {
  name: string;
  /** Type of its workflows; undefined: it has none. */
  workflow: string | undefined;
  /** How its steps are published to workflows. */
  message: Transition['message'];
  steps: Step[];
  /** What comes by itself after the last step, and milliseconds after which it is over. */
  end?: { name: string; ms: number };
  setUp(caller: Caller): Promise<void>;
}

const PREFIX = 'capacity';
const VOTES = 3;
const PICTURES = 4;
const JURORS = 5_000;
/** A claim passes by cases that others have locked, and its caller asks again. */
const AGAIN_MS = 50;
const TRIES = 40;
/** Ten seconds after its last callback a review's workflow ends. */
const REVIEW_ENDS_MS = 12_500;

const nothing = async () => {};

export const ticket: LifeKind = {
  ...{ name: 'ticket', workflow: 'ticket', message: 'slot', setUp: nothing },
  steps: [
    {
      name: 'add',
      call: async (caller) => void need(await caller.post(`/v1/queues/${PREFIX}/tickets`, { body: BODY }), 201),
    },
    {
      name: 'claim',
      async call(caller, life) {
        const { tickets } = need(await caller.post(`/v1/queues/${PREFIX}/claim`, { reviewer: `r${life.n}` }), 200);
        Object.assign(life, { id: tickets[0].id, token: tickets[0].lease.token });
      },
    },
    {
      name: 'decide',
      async call(caller, { id, token }) {
        need(await caller.post(`/v1/tickets/${id}/decide`, { token, decision: { verdict: 'keep' } }), 200);
      },
    },
  ],
};

/** A caller of one topic. */
function jobs(topic: string) {
  const ask = async (caller: Caller, command: object) => {
    const answer = need(await caller.post('/v1/jobs', command), 200);
    if (!answer.success) throw new Error(JSON.stringify(answer));
    return answer;
  };
  return {
    async add(caller: Caller, { n }: Life): Promise<void> {
      const body = { order: n, user: 'u1234567', amount: 4200 };
      await ask(caller, { command: 'add', topic, id: `${topic}-${n}`, TTR: 60, body });
    },
    async pop(caller: Caller, life: Life): Promise<void> {
      const { id, token } = await ask(caller, { command: 'pop', topic });
      if (id === null) throw new Error(`there is no job in ${topic}`);
      Object.assign(life, { id, token });
    },
    async finish(caller: Caller, { id, token }: Life): Promise<void> {
      await ask(caller, { command: 'finish', id, token });
    },
  };
}

const each = jobs(PREFIX);

const job: LifeKind = {
  ...{ name: 'job', workflow: 'job', message: 'slot', setUp: nothing },
  steps: [
    { name: 'add', call: each.add },
    { name: 'pop', call: each.pop },
    { name: 'finish', call: each.finish },
  ],
};

const QUICK_TOPIC = `${PREFIX}-quick`;
const quick = jobs(QUICK_TOPIC);

/** Of a topic whose jobs have no workflow when they are done at once, which is why its life is one step. */
const quickJob: LifeKind = {
  ...{ name: 'job, when-needed', workflow: undefined, message: 'none' },
  setUp: async (caller) => void need(await caller.put(`/v1/topics/${QUICK_TOPIC}`, { workflow: 'when-needed' }), 200),
  steps: [
    {
      name: 'add, pop, finish',
      async call(caller, life) {
        await quick.add(caller, life);
        await quick.pop(caller, life);
        await quick.finish(caller, life);
      },
    },
  ],
};

let claims = 0;

async function claimCase(caller: Caller, life: Life): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const juror = `j${claims++ % JURORS}`;
    const { case: found, lease } = need(await caller.post(`/v1/courts/${PREFIX}/claim`, { juror }), 200);
    if (found) return void Object.assign(life, { id: found.id, token: lease.token });
    await sleep(AGAIN_MS);
  }
  throw new Error('there is no case for a juror');
}

const vote = async (caller: Caller, { id, token }: Life) =>
  void need(await caller.post(`/v1/cases/${id}/votes`, { token, option: 'buyer' }), 200);

const courtCase: LifeKind = {
  ...{ name: 'case', workflow: 'courtCase', message: 'slot' },
  async setUp(caller) {
    await makeCourt(caller, PREFIX, { votesToWin: VOTES, goldShare: 0 });
    await putList(caller, PREFIX, numbered(JURORS, 'j'));
  },
  steps: [
    {
      name: 'add',
      async call(caller) {
        need(await caller.post(`/v1/courts/${PREFIX}/cases`, { body: { about: 'a pair of shoes, worn once' } }), 201);
      },
    },
    ...Array.from({ length: VOTES }, () => [
      { name: 'claim', call: claimCase },
      { name: 'vote', call: vote },
    ]).flat(),
  ],
};

const uidOf = ({ n }: Life) => `${PREFIX}-${n}`;

const task: LifeKind = {
  ...{ name: 'task', workflow: 'task', message: 'slot' },
  async setUp(caller) {
    need(await caller.post('/v1/templates', { id: PREFIX, name: PREFIX, params: { place: { type: 'string' } } }), 201);
  },
  steps: [
    {
      name: 'add',
      async call(caller, life) {
        const what = { type: 'once', templateId: PREFIX, executor: `uid_${uidOf(life)}`, params: { place: 'shop 12' } };
        const startTime = new Date(Date.now() - 1_000).toISOString();
        need(await caller.post('/v1/tasks', { ...what, startTime, dispatchTimes: 1 }), 201);
      },
    },
    {
      name: 'next',
      async call(caller, life) {
        const { task: given, logId } = need(await caller.post(`/v1/clients/${uidOf(life)}/next`, {}), 200);
        if (!given) throw new Error(`there is no task for ${uidOf(life)}`);
        life.token = logId;
      },
    },
    {
      name: 'complete',
      async call(caller, life) {
        const done = { logId: life.token, result: 'done' };
        need(await caller.post(`/v1/clients/${uidOf(life)}/complete`, done), 200);
      },
    },
  ],
};

const reviewOf = ({ n }: Life) => `${PREFIX}-${n}`;
const pictureOf = (life: Life, k: number) => `${reviewOf(life)}-p${k}`;

export const review: LifeKind = {
  ...{ name: 'review', workflow: 'review', message: 'urgent', setUp: nothing },
  steps: [
    {
      name: 'put',
      message: 'none',
      async call(caller, life) {
        const pictures = Array.from({ length: PICTURES }, (_, k) => ({ id: pictureOf(life, k), status: 0 }));
        need(await caller.put(`/v1/reviews/${reviewOf(life)}`, { text: { status: 0 }, pictures, replies: [] }), 201);
      },
    },
    ...Array.from({ length: PICTURES }, (_, k) => ({
      name: 'callback',
      async call(caller: Caller, life: Life) {
        const about = { kind: 'picture', targetId: pictureOf(life, k), status: 1 };
        const sent = { ...about, auditTime: new Date().toISOString(), callbackId: `${reviewOf(life)}-c${k}` };
        need(await caller.post(`/v1/reviews/${reviewOf(life)}/callbacks`, sent), 202);
      },
    })),
  ],
  end: { name: 'end of the workflow', ms: REVIEW_ENDS_MS },
};

/** The kinds by what their lives cost, with the share of lives that each has in the mixed run. */
export const KINDS: { kind: LifeKind; share: number }[] = [
  { kind: ticket, share: 30 },
  { kind: job, share: 20 },
  { kind: quickJob, share: 15 },
  { kind: courtCase, share: 10 },
  { kind: task, share: 15 },
  { kind: review, share: 10 },
];

let lives = 0;

export const newLife = (): Life => ({ n: lives++, id: '', token: '' });
