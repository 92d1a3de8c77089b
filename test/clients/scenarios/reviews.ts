import { expect } from 'vitest';
import { type Client, eventually, type Json } from '../../support/client.ts';
import { logOf, put } from '../../support/reviews.ts';
import { named, refusal } from '../driver.ts';
import type { Scenarios } from '../scene.ts';
import { forgetful } from '../stand-ins.ts';

const waitSeconds = 10;
/** What became of a callback the first time it was received. A busy server answers `pending`; the log has it later. */
const outcomeOf = async (api: Client, review: string, { outcome, callbackId }: Json): Promise<string> =>
  outcome === 'pending'
    ? eventually(async () => {
        const line = (await logOf(api, review)).find((one) => one.callbackId === callbackId);
        return line?.outcome !== 'pending' && line?.outcome;
      })
    : outcome;

/** What each client does with reviews. */
export const auditor: Scenarios = {
  'S1.1 S1.3 S1.6 what is asked of reviews is answered, and what is refused has a type': async ({ api, connect }) => {
    const call = connect();
    const id = 'calls-review';
    const pictures = [1, 2].map((n) => ({ id: `calls-picture-${n}`, status: 0 }));
    const body = { a: [1, 'ä', null] };
    expect(await call('reviews.put', id, { text: { status: 0 }, pictures, body })).toMatchObject({
      id,
      status: 0,
      body,
    });
    const tell = (callback: object) => call('reviews.callback', id, named({ kind: 'text', ...callback }));
    const told = async (callback: object) => outcomeOf(api, id, await tell({ waitSeconds, ...callback }));
    const text = await tell({ status: 5, waitSeconds });
    expect(text.callbackId).not.toBe('');
    expect(await outcomeOf(api, id, text)).toBe('applied');
    expect(await told({ status: 4, auditTime: '2020-01-01T00:00:00.000Z' })).toBe('expired');
    const mine = { kind: 'picture', targetId: pictures[0]?.id, status: 6, callbackId: 'mine', waitSeconds };
    expect(await told(mine)).toBe('applied');
    const duplicate = await tell(mine);
    if (duplicate.outcome !== 'pending')
      expect(duplicate.firstOutcome ?? duplicate.first.outcome ?? duplicate.first).toBe('applied');
    const ofMine = async () =>
      (await logOf(api, id)).flatMap((one) => (one.callbackId === 'mine' ? [one.outcome] : []));
    await eventually(async () => (await ofMine()).join() === 'applied,duplicate');
    const picture = await call('reviews.pictureCallback', pictures[1]?.id, named({ status: 7, waitSeconds }));
    expect(await outcomeOf(api, id, picture)).toBe('applied');
    for (let status = 0; status < 100; status++) await tell({ status });
    expect(await told({ status: 100 })).toBe('applied');
    const edited = await call('reviews.put', id, { text: { status: 1 }, pictures: pictures.slice(1) });
    expect(edited).toMatchObject({ status: 100, pictures: [{ status: 7 }] });
    expect((await call('reviews.get', id)).version).toBe(edited.version);
    const log: Json[] = await call('reviews.log', id);
    expect(log.at(-1).kind).toBe('edit');
    expect([log.length, new Set(log.map(({ seq }) => seq)).size]).toEqual([107, 107]);
    expect(await refusal(call('reviews.callback', 'nobody', named({ kind: 'text', status: 1 })))).toBe(
      'Http not_found',
    );
    expect(await refusal(tell({ kind: 'picture', status: 1 }))).toBe('Http invalid_request');
  },

  'S1.6 a callback whose answer was lost is sent again, and is no second callback': async ({ api, connect }) => {
    const id = 'lost-callback';
    await put(api, id, { text: { status: 0 } });
    const server = await forgetful(api.url, (call) => call.path.endsWith('/callbacks'));
    const call = connect({ servers: [server.url] });
    for (const status of [1, 2, 3]) {
      const answer = await call('reviews.callback', id, named({ kind: 'text', status, waitSeconds }));
      expect(await outcomeOf(api, id, answer)).toBe('applied');
    }
    const several = [4, 5].map((status) => ({ kind: 'text', status }));
    const answers: Json[] = await call('reviews.callbacks', id, several, named({ waitSeconds }));
    for (const answer of answers) expect(await outcomeOf(api, id, answer)).toBe('applied');
    expect(server.calls).toHaveLength(8);
    const applied = (await logOf(api, id)).filter((line) => line.outcome === 'applied');
    expect(applied.map((line) => line.status)).toEqual([1, 2, 3, 4, 5]);
    const bad = [...several, { kind: 'picture', status: 1 }];
    expect(await refusal(call('reviews.callbacks', id, bad))).toBe('Http invalid_request');
    expect((await call('reviews.get', id)).status).toBe(5);
  },
};
