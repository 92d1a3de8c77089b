import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { type Call, plain, type World, walked } from '../support/alike.ts';
import { insist, type Json } from '../support/client.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, sql } = await startTestSystem({}, { role: 'api' });
const { addCase, openCourt } = api.cases;

/** The calls that a juror may make about cases and courts, as they are made at each step, also when they are refused. */
const CALLS: Record<string, (w: World) => Call[]> = {
  getCourt: ({ queue }) => [['get', `/v1/courts/${queue}`]],
  listCourts: () => [['get', '/v1/courts?limit=1']],
  getJuror: ({ queue, person }) => [person, 'other'].map((one) => ['get', `/v1/courts/${queue}/jurors/${one}`]),
  explainCase: ({ queue, id }) => [{}, { case: id }].map((more) => ['post', `/v1/courts/${queue}/explain`, more]),
  getCase: ({ id }) => [['get', `/v1/cases/${id}`]],
  listInvitations: ({ person }) => [['get', `/v1/jurors/${person}/invitations`]],
  castVote: ({ id, token }) => [
    ['post', `/v1/cases/${id}/votes`, { token, option: 'neither' }],
    ['post', `/v1/cases/${id}/votes`, { token: 'x', option: 'buyer' }],
  ],
  renewCase: ({ id, token }) => [['post', `/v1/cases/${id}/renew`, { token }]],
  releaseCase: ({ id }) => [['post', `/v1/cases/${id}/release`, { token: 'x' }]],
  declineCase: ({ id }) => [['post', `/v1/cases/${id}/decline`, { token: 'x' }]],
  // at the end, because it hands something out
  claimCase: ({ queue }) => [['post', `/v1/courts/${queue}/claim`, {}]],
};

const post = ({ client, id, token }: World, what: string, more: object = {}) =>
  client.post(`/v1/cases/${id}/${what}`, { token, ...more });

const ENDINGS: Record<string, (w: World) => Promise<{ status: number; body: unknown }>> = {
  'judged right': (w) => post(w, 'votes', { option: 'buyer' }),
  'judged wrong': (w) => post(w, 'votes', { option: 'seller', comment: 'c' }),
  released: (w) => post(w, 'release'),
  skipped: (w) => post(w, 'release', { skip: true }),
  expired: async (w) => {
    await sql('update lease set expires_at = now() where token = $1', [w.token]);
    return post(w, 'votes', { option: 'buyer' });
  },
};

const isGold = async (id: string) =>
  (await sql('select from case_file where id = $1 and gold is not null', [id])).length > 0;

test.each(Object.keys(ENDINGS))('B.2 S2.8 no call of a juror tells gold from a case that is %s', async (ending) => {
  const called = endpoints.filter(({ roles, tag }) => roles?.includes('reviewer') && ['Cases', 'Courts'].includes(tag));
  expect(Object.keys(CALLS).sort()).toEqual(called.map(({ operation }) => operation).sort());
  const seen: Json[] = [];
  for (const kind of ['plain', 'gold']) {
    const name = `${kind}-${ending.replace(' ', '-')}`;
    const w: World = {
      queue: name,
      person: `p-${name}`,
      client: await keyed('reviewer', `p-${name}`),
      id: 'no',
      token: 'no',
    };
    const limits = { votesPerDay: 5, window: { cases: 9, seconds: 600 }, deadlineSeconds: 86_400 };
    const rules = { votesToWin: 2, goldShare: 1, lateVotes: 'record', strategy: { pick: 'oldest' } };
    await openCourt(name, { ...rules, ...limits }, [w.person], []);
    const [id, body] = [`of-${name}`, { text: 'x' }];
    if (kind === 'plain') await addCase(name, { id, body });
    else insist(await api.put(`/v1/courts/${name}/gold`, { cases: [{ id, body, answer: 'buyer' }] }), 'gold', 200);
    const own = await openStream(w.client, `juror=${w.person}`);
    const isFirst = ending === 'judged right';
    const answers = isFirst ? await walked(CALLS, w, false) : [];
    const held = await w.client.cases.claimOwn(name);
    Object.assign(w, { id: held.case.id, token: held.lease.token });
    expect([w.id, await isGold(w.id)]).toEqual([id, kind === 'gold']);
    answers.push(plain(held, w));
    if (isFirst) answers.push(await walked(CALLS, w, true));
    const { status, body: answer } = await (ENDINGS[ending] as (typeof ENDINGS)[string])(w);
    expect(status).toBe(200);
    answers.push(plain(answer, w), await walked(CALLS, w, true));
    // held again by the walk, where it was given back
    if (ending !== 'released') await addCase(name, { id: `${name}-next`, body });
    const { case: next } = await w.client.cases.claimOwn(name);
    await api.post(`/v1/cases/${next.id}/invalidate`, { reason: 'r' });
    answers.push(await walked(CALLS, w, true));
    await own.first('lease_lost', ({ id: lost }) => lost === next.id);
    answers.push(own.events.map(({ event, data }) => [event, plain(data, w)]));
    seen.push(answers);
  }
  expect(seen[1]).toEqual(seen[0]);
});
