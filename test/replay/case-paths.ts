import { expect } from 'vitest';
import { addCase, claimed, court, invitations, jurors, oneCase, voted } from '../support/cases.ts';
import { eventually, numbered } from '../support/client.ts';
import type { TestSystem } from '../support/system.ts';
import { closed, type Path, path, untilState } from './paths.ts';

const workflowId = (id: string) => `case/${id}`;

/** Some juror's open invitation to the case. */
const invited = (s: TestSystem, all: string[]) =>
  eventually(async () => (await Promise.all(all.map((juror) => invitations(s.api, juror)))).flat()[0], 60_000);

/** Ways a case's workflow can go. */
export const casePaths: Path[] = [
  path('case-decided', { workflowId }, async (s, id) => {
    await court(s.api, id, { votesToWin: 2 });
    await jurors(s.api, id, numbered(2));
    await addCase(s.api, id, { id });
    for (const juror of numbered(2)) {
      const { token } = await claimed(s.api, id, juror);
      await untilState(s, id, 'open', `cases/${id}`);
      await voted(s.api, id, token, 'buyer');
    }
    await closed(s, id, `cases/${id}`);
  }),
  path('case-invited', { workflowId }, async (s, id) => {
    await court(s.api, id, { votesToWin: 1, mode: 'assign', assign: { jurors: 1, answerSeconds: 60 } });
    await jurors(s.api, id, numbered(3));
    await addCase(s.api, id, { id });
    const first = await invited(s, numbered(3));
    await s.api.post(`/v1/cases/${id}/decline`, { token: first.token });
    await voted(s.api, id, (await invited(s, numbered(3))).token, 'seller');
    await closed(s, id, `cases/${id}`);
  }),
  path('case-silent', { pacemaker: 'off', workflowId }, async (s, id) => {
    await court(s.api, id, { votesToWin: 1, mode: 'assign', assign: { jurors: 1, answerSeconds: 1 } });
    await jurors(s.api, id, numbered(2));
    await addCase(s.api, id, { id, deadlineSeconds: 4 });
    await closed(s, id, `cases/${id}`);
  }),
  path('case-invalidated-by-signal', { workflowId }, async (s, id) => {
    await court(s.api, id, {});
    await jurors(s.api, id, numbered(1));
    await addCase(s.api, id, { id });
    await claimed(s.api, id, 'j0');
    const workflow = s.running.runtime.client.workflow.getHandle(`case/${id}`);
    await eventually(() =>
      workflow.signal('invalidate', { reason: 'settled between them', by: 'olga' }).then(() => true),
    );
    await workflow.result();
    const ended = { state: 'invalidated', endReason: 'settled between them', holds: 0 };
    expect(await oneCase(s.api, id)).toMatchObject(ended);
  }),
];
