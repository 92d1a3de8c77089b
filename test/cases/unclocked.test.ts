import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { behind } from '../support/database.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem, testStores } from '../support/system.ts';

// no clock runs here: holds are ended by hand, or by calls
const stores = await testStores();
const { api, sql } = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api', stores });
const { claimed, eventTypes, openCourt } = api.cases;

test('S2.4 a hold that begins behind a wait begins after the end of the one before', async () => {
  await openCourt('wait', {}, ['ann'], ['wait-1', 'wait-2']);
  const first = await claimed('wait', 'ann');
  const claimDirectly = () => sql<{ id: string }>("select id from claim_cases('wait', '{ann}', '{second}')");
  const second = await behind(stores.databaseUrl, ['lock table queue in access exclusive mode'], claimDirectly, [
    ["select leave_case($1, $2, null, 'skipped')", [first.id, first.token]],
  ]);
  expect(second).toEqual([{ id: first.id === 'wait-1' ? 'wait-2' : 'wait-1' }]);
  const [before, after] = await sql<{ granted_at: Date; ended_at: Date }>(
    'select granted_at, ended_at from lease order by (token = $1) desc',
    [first.token],
  );
  expect(after?.granted_at.getTime()).toBeGreaterThanOrEqual(before?.ended_at.getTime() ?? Number.NaN);
});

test('S2.7 who leaves a case after its deadline is told that it is hung, also before any clock has come by', async () => {
  await openCourt('late', { deadlineSeconds: 4 }, ['ann'], ['late']);
  const { token } = await claimed('late', 'ann');
  await sleep(4_100);
  for (const call of ['release', 'renew'])
    expectProblem(await api.post(`/v1/cases/late/${call}`, { token }), call, 'not_open');
  expect(await eventTypes('late')).toEqual(['created', 'claimed', 'hung']);
});
