import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { job } from '../support/jobs.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addHeld, configure } from '../support/tickets.ts';

// Neither clock runs, and no worker: what is due waits.
const system = await startTestSystem({ DOCKET_PACEMAKER: 'off', LOG_LEVEL: 'silent' }, { role: 'api' });
const { api } = system;
const doctor = testDoctor(system, 0);
const { sql } = doctor;

test('overdue: no clock has come by, while a process is alive', async () => {
  await add(api, 'due', { id: 'due', deadlineSeconds: 1 });
  const overdue = () => doctor.findings({ limits: { overdueSeconds: 1 } });
  const found = await eventually(async () => (await overdue()).overdue);
  expect(found).toMatchObject({
    severity: 'warning',
    count: 1,
    examples: [expect.stringMatching(/^ticket\/due: due for \d+ s$/)],
  });
  expect(found.advice).toContain('DOCKET_PACEMAKER=on');
  expect((await doctor.findings()).overdue).toBeUndefined();
  await sql('select tick(10)');
  expect((await overdue()).overdue).toBeUndefined();
});

test('parked: a transition that fails', async () => {
  await add(api, 'poison', { id: 'poison', deadlineSeconds: 0.5 });
  await sql(`create function poison() returns trigger language plpgsql as $$ begin raise 'made to fail'; end $$;
             create trigger poison before update of state on item for each row
               when (new.id = 'poison' and new.state = 'expired') execute function poison()`);
  await eventually(async () => {
    await sql('select tick(10)');
    return (await sql('select from parked')).length > 0;
  });
  expect((await doctor.findings()).parked).toMatchObject({
    ...{ severity: 'broken', count: 1, examples: ['ticket/poison: made to fail'] },
  });
  await sql('drop trigger poison on item; delete from parked; select tick(10)');
  expect(await doctor.broken()).toEqual([]);
});

test('late: a queue whose oldest waits beyond its first escalation, and why', async () => {
  await configure(api, 'late', { escalations: [{ afterSeconds: 1, priority: 5 }] });
  await add(api, 'late', { id: 'late', createdAt: new Date(Date.now() - 10_000).toISOString() });
  const late = async () => (await doctor.findings()).late;
  expect(await late()).toMatchObject({
    ...{ severity: 'warning', count: 1 },
    examples: [expect.stringMatching(/^ticket\/late: the oldest has waited \d+ s instead of 1 s, and no one claims$/)],
  });
  await api.post('/v1/queues/late/pause');
  expect((await late())?.examples[0]).toMatch(/, and it is paused$/);
  await api.post('/v1/tickets/late/resolve', { decision: 'ok', reason: 'done' });
  expect(await late()).toBeUndefined();
});

test('unpublished: no worker follows the log', async () => {
  const limits = { unpublishedSeconds: 1 };
  const found = await eventually(async () => (await doctor.findings({ limits })).unpublished);
  expect(found).toMatchObject({
    severity: 'warning',
    examples: [expect.stringMatching(/^log: the oldest line has waited for \d+ s$/)],
  });
  expect(found.advice).toBe('No worker follows the log: start one.');
});

test('dead-letters: buried jobs, dead tickets, deliveries that were given up', async () => {
  await job(api, 'add', { topic: 'mails', id: 'mail', TTR: 60, body: 1 });
  await api.post('/v1/jobs/mail/bury', { reason: 'poisonous' });
  await sql(`insert into delivery (kind, item_id, n, type, version, queue, url, state)
             values ('ticket', 'due', 1, 'ticket.expired', 1, 'due', 'http://receiver:81/x', 'failed'),
                    ('review', 'r', 1, 'review.changed', 1, '', 'http://receiver:81/x', 'failed')`);
  expect((await doctor.findings())['dead-letters']).toMatchObject({
    ...{ severity: 'warning', count: 3 },
    examples: expect.arrayContaining(['job/mails: 1 buried', 'ticket/due: 1 undelivered', 'review/: 1 undelivered']),
  });
  await sql('delete from delivery');
  await job(api, 'kick', { id: 'mail' });
  expect((await doctor.findings())['dead-letters']).toBeUndefined();
  await configure(api, 'mortal', { maxAttempts: 1 });
  const { id, lease } = await addHeld(api, 'mortal', 'mortal', 'ann');
  await api.post(`/v1/tickets/${id}/release`, { token: lease.token });
  // the counters of metrics, which never fall, are none of them
  await system.running.runtime.db.run('compact_tally');
  expect((await doctor.findings())['dead-letters']).toMatchObject({ count: 1, examples: ['ticket/mortal: 1 dead'] });
});

test('receivers: one that has not answered several times', async () => {
  await sql(`insert into delivery (kind, item_id, n, type, version, queue, url, state, attempts, status)
             values ('ticket', 'late', 1, 'ticket.decided', 1, 'late', 'http://receiver:81/x', 'pending', 3, 503)`);
  expect((await doctor.findings({ limits: { overSeconds: 600 } })).receivers).toMatchObject({
    ...{ severity: 'warning', count: 1 },
    examples: [expect.stringMatching(/^receiver:81: pending for up to \d+ s, last: 503$/)],
  });
  await sql('delete from delivery');
});

test('chores: what no process has done, because none is alive', async () => {
  await system.stop();
  const since = `now() - interval '1 hour'`;
  await sql(`insert into resync (what, parent, name, at) values ('schedule', 'mails', 'daily', ${since});
    insert into delivery_start (kind, item_id, n, at) values ('case', 'c', 2, ${since});
    update item set rules_due_at = ${since} where id = 'mail';
    update queue set refresh_pending = true, refresh_taken_at = ${since} where name = 'late'`);
  const found = await doctor.findings({ limits: { overdueSeconds: 0 } });
  expect(found.chores).toMatchObject({
    ...{ severity: 'warning', count: 4 },
    examples: [
      'schedule mails/daily: is to be brought to Temporal',
      'delivery case/c/2: is to be started',
      'job/mail: waits for the rules of its queue',
      'ticket/late: has settings that are not applied to all that is open in it',
    ],
  });
  await sql(`delete from resync; delete from delivery_start; update queue set refresh_pending = false;
    update item set rules_due_at = null`);
  expect((await doctor.findings()).chores).toBeUndefined();
});

test('overdue: no process is alive', async () => {
  await sql(`update item set wake_at = now() - interval '1 hour' where id = 'mail'`);
  const { overdue } = await doctor.findings();
  expect(overdue).toMatchObject({ count: 1, advice: 'No process of Docket is alive: start one.' });
});
