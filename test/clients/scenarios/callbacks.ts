import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { addCase, court, invitations, jurors, voted } from '../../support/cases.ts';
import { claimOne, eventually, type Json } from '../../support/client.ts';
import { SECRET } from '../../support/receiver.ts';
import { put, tell } from '../../support/reviews.ts';
import type { TestSystem } from '../../support/system.ts';
import { addTask, addTemplate, completed, handed } from '../../support/tasks.ts';
import { add, decide } from '../../support/tickets.ts';
import { ended, type Program, run } from '../driver.ts';
import type { Kit } from '../kits.ts';

/** What each client does with signed callbacks, whatever its language. */
export function testReceiver(system: TestSystem, kit: Kit): void {
  testKinds(system, kit);
  testSignatures(kit);
  testVersions(kit);
}

interface Receiving extends Program {
  url: string;
}

async function startReceiving(kit: Kit, asked: object = {}): Promise<Receiving> {
  const program = run(kit, 'receive', { secret: SECRET, ...asked });
  await eventually(async () => program.lines('url').length === 1);
  return { ...program, url: program.lines('url')[0]?.url };
}

interface Sending {
  secret?: string;
  id?: string;
  at?: Date;
  /** What is sent instead of what was signed. */
  body?: string;
}

/** Sends a callback as Docket does; the status, and the outcome if there is one. */
export async function send(url: string, message: object, more: Sending = {}): Promise<[number, string | undefined]> {
  const { secret = SECRET, id = `msg_${randomUUID()}`, at = new Date() } = more;
  const text = JSON.stringify(message);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, text),
  };
  const response = await fetch(url, { method: 'POST', headers, body: more.body ?? text });
  const answer = await response.text();
  return [response.status, response.status === 200 ? JSON.parse(answer).outcome : undefined];
}

const ticketMessage = (id: string, version: number): Json => ({
  ...{ type: 'ticket.decided', version },
  ticket: { id, queue: 'q', state: 'decided', version, decision: { text: 'ä "1" 😀' } },
});
const handled = (program: Program): Json[] => program.lines('handled').map((line) => line.handled);
const keys = (program: Program): string[] => handled(program).map(({ key }) => key);

function testKinds({ api }: TestSystem, kit: Kit): void {
  test('S0.10 S1.6 S2.1 S3.7 S4.8 callbacks of all kinds are handled, each once', async () => {
    const program = await startReceiving(kit);
    const callback = { url: program.url, secret: SECRET };

    await add(api, 'told', { id: 'told-1', callback });
    await decide(api, await claimOne(api, 'told', 'ada'), { ok: 'ä' });

    await court(api, 'told', {
      ...{ votesToWin: 1, overbook: 1, mode: 'both', callback, invitationCallback: callback },
      assign: { jurors: 2, answerSeconds: 60 },
    });
    await jurors(api, 'told', ['kim', 'lea']);
    await addCase(api, 'told', { id: 'told-case' });
    await eventually(async () => keys(program).filter((key) => key.startsWith('case/told-case/')).length === 2);
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
    await eventually(async () => keys(program).filter((key) => key.startsWith('review/')).length === 2);
    await eventually(async () => keys(program).length === 9, 40_000);
    await ended(program);
    const seen = (type: string) => handled(program).filter((one) => one.type === type);
    expect(seen('ticket.decided')).toMatchObject([{ key: 'ticket/told-1', kind: 'ticket', itemId: 'told-1' }]);
    const invited = seen('case.invited').map(({ key }) => key);
    expect(invited.sort()).toEqual(['case/told-case/kim', 'case/told-case/lea']);
    expect(seen('case.decided')).toMatchObject([{ key: 'case/told-case', kind: 'case', itemId: 'told-case' }]);
    const versions = seen('review.changed').map(({ version }) => version);
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(2);
    for (const { key, itemId } of seen('task.completed')) expect(key).toMatch(new RegExp(`^task/${itemId}/.+Z$`));
    expect(
      seen('task.completed')
        .map(({ itemId }) => itemId)
        .sort(),
    ).toEqual(['told-task-1', 'told-task-2']);
    expect(seen('job')).toMatchObject([{ key: `job/${number}`, kind: 'job', itemId: job.id }]);
    for (const one of handled(program)) expect(one.whole).toBe(true);
  }, 90_000);
}

function testSignatures(kit: Kit): void {
  const OTHER = `whsec_${Buffer.from('another secret of thirty-two b..').toString('base64')}`;
  const MINUTES_6_MS = 360_000;

  test('S0.10 what is not signed with the secret, or too long ago, or was changed on its way, is not handled', async () => {
    const program = await startReceiving(kit);
    const message = ticketMessage('signed', 5);
    const later = new Date(Date.now() + MINUTES_6_MS);
    const earlier = new Date(Date.now() - MINUTES_6_MS);
    expect(await send(program.url, message, { secret: OTHER })).toEqual([401, undefined]);
    expect(await send(program.url, message, { at: earlier })).toEqual([401, undefined]);
    expect(await send(program.url, message, { at: later })).toEqual([401, undefined]);
    const body = JSON.stringify(ticketMessage('signed', 6));
    expect(await send(program.url, message, { body })).toEqual([401, undefined]);
    expect((await fetch(program.url, { method: 'POST', body })).status).toBe(401);
    expect(program.lines('began')).toEqual([]);
    expect(await send(program.url, message)).toEqual([200, 'handled']);
    await ended(program);
  });

  test('S0.10 while a secret is changed, the old and the new one count', async () => {
    const program = await startReceiving(kit, { secret: [SECRET, OTHER] });
    expect(await send(program.url, ticketMessage('old', 1))).toEqual([200, 'handled']);
    expect(await send(program.url, ticketMessage('new', 1), { secret: OTHER })).toEqual([200, 'handled']);
    const third = `whsec_${Buffer.from('a third secret of thirty-two b..').toString('base64')}`;
    expect(await send(program.url, ticketMessage('third', 1), { secret: third })).toEqual([401, undefined]);
    await ended(program);
  });
}

function testVersions(kit: Kit): void {
  test('S0.10 what is repeated or older is not handled, what is newer is', async () => {
    const program = await startReceiving(kit);
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
    for (const [message, outcome] of sent) expect(await send(program.url, message)).toEqual([200, outcome]);
    await ended(program);
    expect(handled(program)).toHaveLength(sent.filter(([, outcome]) => outcome === 'handled').length);
  });

  test('S0.10 what could not be handled is handled when it is sent again', async () => {
    const program = await startReceiving(kit, { failures: 2 });
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await send(program.url, ticketMessage('fails', 3)));
    await ended(program);
    expect(answers).toEqual([
      [500, undefined],
      [500, undefined],
      [200, 'handled'],
      [200, 'repeated'],
    ]);
    expect(program.lines('began')).toHaveLength(3);
    expect(handled(program)).toHaveLength(1);
  });

  test('S0.10 of fifty of the same at once one is handled, and the others wait for it', async () => {
    const program = await startReceiving(kit, { seconds: 0.5 });
    const message = ticketMessage('fifty', 3);
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(program.url, message)));
    await ended(program);
    const outcomes = answers.map(([status, outcome]) => `${status} ${outcome}`).sort();
    expect(outcomes).toEqual(['200 handled', ...Array(49).fill('200 repeated')]);
    expect(program.lines('began')).toHaveLength(1);
  });

  test('S0.10 versions that are kept outlive the program', async () => {
    const store = 'versions.json';
    const first = await startReceiving(kit, { store });
    expect(await send(first.url, ticketMessage('kept', 3))).toEqual([200, 'handled']);
    await ended(first);
    const second = await startReceiving(kit, { store });
    expect(await send(second.url, ticketMessage('kept', 3))).toEqual([200, 'repeated']);
    expect(await send(second.url, ticketMessage('kept', 4))).toEqual([200, 'handled']);
    await ended(second);
  });
}
