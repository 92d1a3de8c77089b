import { expect, test } from 'vitest';
import { Wire } from '../beanstalkd/wire.ts';
import { behind } from '../support/database.ts';
import { startTestSystem } from '../support/system.ts';
import { add } from '../support/tickets.ts';

const { api, sql, running, databaseUrl } = await startTestSystem(
  { DOCKET_PACEMAKER: 'off', BEANSTALKD_PORT: '0' },
  { role: 'api' },
);
const GRANT = `select count(*) from grant_items('ticket', '{t}', '{ben}', '{second}', '{1}')`;
const GIVE_BACK = 'select count(*) from give_back($1, array[$2], null::text[])';

const rowOf = (id: string): [string, string[]] => ['select from item where id = $1 for update', [id]];
const behindRow = <T>(id: string, call: () => Promise<T>, meanwhile: Parameters<typeof behind>[3]) =>
  behind(databaseUrl, rowOf(id), call, meanwhile);

/** The lines of an item's history, each later than the one before. */
async function history(id: string): Promise<string[]> {
  const lines = await sql<{ type: string; at: string }>(
    'select type, at::text from event where item_id = $1 order by seq',
    [id],
  );
  expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).sort());
  return lines.map(({ type }) => type);
}

test('S0.6 a ticket taken away behind a wait loses a lease that began before', async () => {
  await add(api, 'waits', { id: 't' });
  await api.post('/v1/queues/waits/claim', { reviewer: 'anna' });
  const release = () => api.post('/v1/tickets/t/release', {});
  const answer = await behindRow('t', release, [[GIVE_BACK, ['ticket', 't']], [GRANT]]);
  expect(answer).toMatchObject({ status: 200, body: { state: 'waiting' } });
  expect(await history('t')).toEqual(['created', 'claimed', 'released', 'claimed', 'released']);
});

test('S0.4 a ticket transferred, or a job acknowledged, behind a wait ends a lease that began before', async () => {
  await api.put('/v1/queues/other', {});
  await add(api, 'waits', { id: 'moved' });
  const grant = GRANT.replace('{t}', '{moved}');
  const transfer = () => api.post('/v1/tickets/moved/transfer', { queue: 'other' });
  expect(await behindRow('moved', transfer, [[grant]])).toMatchObject({ status: 200, body: { queue: 'other' } });
  expect(await history('moved')).toEqual(['created', 'claimed', 'transferred']);

  await api.post('/v1/jobs', { command: 'add', topic: 'done', id: 'done', body: 'x' });
  const finish = () => api.post('/v1/jobs', { command: 'finish', id: 'done' });
  const pop = "select count(*) from pop_jobs('{done}', '{first}', '{anna}', null, null)";
  expect((await behindRow('done', finish, [[pop]])).status).toBe(200);
  expect(await history('done')).toEqual(['created', 'reserved', 'finished']);
});

test('S3.1 S3.8 a job reserved or put aside behind a wait: each reservation begins after the end of the one before', async () => {
  await api.post('/v1/jobs', { command: 'add', topic: 'default', id: 'j', body: 'x' });
  const pop: [string] = ["select count(*) from pop_jobs('{default}', '{first}', '{anna}', null, null)"];
  const wire = await Wire.open(running.beanstalkd?.port ?? 0);
  const number = (await sql<{ seq: string }>("select seq from item where id = 'j'"))[0]?.seq;
  const reserve = () => wire.ask(`reserve-job ${number}`);
  expect(await behindRow('j', reserve, [pop, [GIVE_BACK, ['job', 'j']]])).toContain('RESERVED');
  expect(await wire.ask(`release ${number} 0 0`)).toBe('RELEASED\r\n');
  const bury = () => api.post('/v1/jobs/j/bury', { reason: 'poisonous' });
  expect(await behindRow('j', bury, [pop])).toMatchObject({ status: 200, body: { state: 'buried' } });
  wire.close();
  expect(await history('j')).toEqual(['created', 'reserved', 'released', 'reserved', 'released', 'reserved', 'buried']);
});
