import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { addCase, court, invitations, jurors, voted } from '../../support/cases.ts';
import { claimOne, eventually, type Json } from '../../support/client.ts';
import { SECRET } from '../../support/receiver.ts';
import { put, tell } from '../../support/reviews.ts';
import { addTask, addTemplate, completed, handed } from '../../support/tasks.ts';
import { add, decide } from '../../support/tickets.ts';
import { named, type Program, refusal } from '../driver.ts';
import type { Scenarios, Scene } from '../scene.ts';
import { served } from '../stand-ins.ts';

interface Sent {
  headers: Record<string, string>;
  body: string;
}

interface Receiver extends Program {
  /** Has the client receive a callback. @returns the outcome, or outcomes if it is to come several `times` at once */
  receive(sent: Sent, more?: object): Promise<string[]>;
}

function startReceiver({ connect }: Scene, options: object = {}): Receiver {
  const call = connect();
  return {
    ...call.program,
    receive: (sent, more) => call('receive', named({ secret: SECRET, ...options, ...sent, ...more })),
  };
}

/** A callback as Docket sends it. */
function signed(message: object, secret = SECRET, at = new Date()): Sent {
  const [id, body] = [`msg_${randomUUID()}`, JSON.stringify(message)];
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return { headers, body };
}

/** Sends a callback to a receiver. @returns its status */
export const send = async (url: string, message: object, secret?: string): Promise<number> =>
  (await fetch(url, { method: 'POST', ...signed(message, secret) })).status;

const ticketMessage = (id: string, version: number): Json => ({
  ...{ type: 'ticket.decided', version },
  ticket: { id, queue: 'q', state: 'decided', version, decision: { text: 'ä "1" 😀' } },
});
const handled = (receiver: Receiver): Json[] => receiver.lines('handled').map((line) => line.handled);
const keys = (receiver: Receiver): string[] => handled(receiver).map(({ key }) => key);

const secretOf = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`;
export const OTHER_SECRET = secretOf('another secret of thirty-two b..');
const MINUTES_6_MS = 360_000;

/** What each client does with signed callbacks. */
export const receiver: Scenarios = {
  'S0.10 S1.6 S2.1 S3.7 S4.8 callbacks of all kinds are handled, each once': async (scene) => {
    const { api } = scene;
    const receiver = startReceiver(scene);
    const url = await served(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const isReceived = await receiver
        .receive({ headers: request.headers as Sent['headers'], body })
        .catch(() => false);
      response.writeHead(isReceived ? 204 : 500).end();
    });
    const callback = { url, secret: SECRET };

    await add(api, 'told', { id: 'told-1', callback });
    await decide(api, await claimOne(api, 'told', 'ada'), { ok: 'ä' });

    await court(api, 'told', {
      ...{ votesToWin: 1, overbook: 1, mode: 'both', callback, invitationCallback: callback },
      assign: { jurors: 2, answerSeconds: 60 },
    });
    await jurors(api, 'told', ['kim', 'lea']);
    await addCase(api, 'told', { id: 'told-case' });
    await eventually(async () => keys(receiver).filter((key) => key.startsWith('case/told-case/')).length === 2);
    const [{ token }] = await invitations(api, 'kim');
    await voted(api, 'told-case', token, 'buyer');

    await put(api, 'told-review', { text: { status: 0 }, callback });
    for (const status of [1, 2]) await tell(api, 'told-review', { kind: 'text', status });

    await addTemplate(api, 'plain');
    for (const n of [1, 2]) await addTask(api, { id: `told-task-${n}`, executor: 'uid_tim', callback, params: {} });
    for (const _ of [1, 2]) await completed(api, 'tim', (await handed(api, 'tim')).logId, { met: true });

    await api.put('/v1/topics/told', { push: { ...callback, concurrency: 1 } });
    const job = { command: 'add', topic: 'told', id: 'told/中文', body: null };
    expect((await api.post('/v1/jobs', job)).body.success).toBe(true);

    const { number } = (await api.get(`/v1/jobs/${encodeURIComponent(job.id)}`)).body;
    await eventually(async () => keys(receiver).filter((key) => key.startsWith('review/')).length === 2);
    await eventually(async () => keys(receiver).length === 9);
    const seen = (type: string) => handled(receiver).filter((one) => one.type === type);
    expect(seen('ticket.decided')).toMatchObject([{ key: 'ticket/told-1', kind: 'ticket', itemId: 'told-1' }]);
    const invited = seen('case.invited').map(({ key }) => key);
    expect(invited.sort()).toEqual(['case/told-case/kim', 'case/told-case/lea']);
    expect(seen('case.decided')).toMatchObject([{ key: 'case/told-case', kind: 'case', itemId: 'told-case' }]);
    const versions = seen('review.changed').map(({ version }) => version);
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(2);
    for (const { key, itemId } of seen('task.completed')) expect(key).toMatch(new RegExp(`^task/${itemId}/.+Z$`));
    const tasks = seen('task.completed').map(({ itemId }) => itemId);
    expect(tasks.sort()).toEqual(['told-task-1', 'told-task-2']);
    expect(seen('job')).toMatchObject([{ key: `job/${number}`, kind: 'job', itemId: job.id }]);
    for (const one of handled(receiver)) expect(one.whole).toBe(true);
  },

  'S0.10 what is not signed with the secret, or too long ago, or was changed on its way, is not handled': async (
    scene,
  ) => {
    const { receive, lines } = startReceiver(scene);
    const message = ticketMessage('signed', 5);
    const at = (ms: number) => signed(message, SECRET, new Date(Date.now() + ms));
    const { body } = signed(ticketMessage('signed', 6));
    for (const sent of [
      ...[signed(message, OTHER_SECRET), at(MINUTES_6_MS), at(-MINUTES_6_MS)],
      ...[
        { ...at(0), body },
        { ...at(0), headers: {} },
      ],
    ])
      expect(await refusal(receive(sent))).toBe('Signature');
    expect(lines('began')).toEqual([]);
    expect(await receive(at(0))).toEqual(['handled']);
  },

  'S0.10 while a secret is changed, the old and the new one count': async (scene) => {
    const { receive } = startReceiver(scene, { secret: [SECRET, OTHER_SECRET] });
    expect(await receive(signed(ticketMessage('old', 1)))).toEqual(['handled']);
    expect(await receive(signed(ticketMessage('new', 1), OTHER_SECRET))).toEqual(['handled']);
    const third = secretOf('a third secret of thirty-two b..');
    expect(await refusal(receive(signed(ticketMessage('third', 1), third)))).toBe('Signature');
  },

  'S0.10 what is repeated or older is not handled, what is newer is': async (scene) => {
    const receiver = startReceiver(scene);
    const sent: [Json, string][] = [
      [ticketMessage('a', 7), 'handled'],
      [ticketMessage('a', 7), 'repeated'],
      [ticketMessage('a', 6), 'repeated'],
      [ticketMessage('b', 6), 'handled'],
      [ticketMessage('a', 8), 'handled'],
      [{ type: 'review.changed', version: 3, review: { id: 'a' } }, 'handled'],
      [{ type: 'case.invited', version: 4, juror: 'kim', case: { id: 'a' } }, 'handled'],
      [{ type: 'case.invited', version: 4, juror: 'lea', case: { id: 'a' } }, 'handled'],
      [{ type: 'case.invited', version: 4, juror: 'lea', case: { id: 'a' } }, 'repeated'],
      [{ type: 'task.completed', version: 9, task: { id: 'a', occurrence: '2026-01-02T00:00:00.000Z' } }, 'handled'],
      [{ type: 'task.completed', version: 8, task: { id: 'a', occurrence: '2026-01-01T00:00:00.000Z' } }, 'handled'],
      // pushed again, because the answer was lost: with a version of its own
      [{ type: 'job', version: 2, job: { id: 'a', number: 12 } }, 'handled'],
      [{ type: 'job', version: 3, job: { id: 'a', number: 12 } }, 'repeated'],
      [{ type: 'job', version: 1, job: { id: 'a', number: 13 } }, 'handled'],
    ];
    for (const [message, outcome] of sent) expect(await receiver.receive(signed(message))).toEqual([outcome]);
    expect(handled(receiver)).toHaveLength(sent.filter(([, outcome]) => outcome === 'handled').length);
  },

  'S0.10 what could not be handled is handled when it is sent again': async (scene) => {
    const receiver = startReceiver(scene, { failures: 2 });
    const receive = () => receiver.receive(signed(ticketMessage('fails', 3)));
    for (let n = 0; n < 2; n++) expect(await refusal(receive())).not.toBe('Signature');
    expect([await receive(), await receive()]).toEqual([['handled'], ['repeated']]);
    expect(receiver.lines('began')).toHaveLength(3);
    expect(handled(receiver)).toHaveLength(1);
  },

  'S0.10 of fifty of the same at once one is handled, and the others wait for it': async (scene) => {
    const { receive, lines } = startReceiver(scene);
    const outcomes = await receive(signed(ticketMessage('fifty', 3)), { times: 50 });
    expect(outcomes.sort()).toEqual(['handled', ...Array(49).fill('repeated')]);
    expect(lines('began')).toHaveLength(1);
  },

  'S0.10 versions that are kept outlive the program': async (scene) => {
    const [first, second] = [1, 2].map(() => startReceiver(scene, { store: 'versions.json' })) as [Receiver, Receiver];
    expect(await first.receive(signed(ticketMessage('kept', 3)))).toEqual(['handled']);
    first.process.stdin?.end();
    expect(await first.exited, first.output()).toBe(0);
    expect(await second.receive(signed(ticketMessage('kept', 3)))).toEqual(['repeated']);
    expect(await second.receive(signed(ticketMessage('kept', 4)))).toEqual(['handled']);
  },
};
