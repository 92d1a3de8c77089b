import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Launched, startOutbox } from '../support/child.ts';
import { eventually, type Json } from '../support/client.ts';
import { onDatabase } from '../support/database.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { installOutbox } from './outbox.ts';

const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
const { api, cell } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });
const outbox = await installOutbox(stores.databaseUrl);
const { client } = outbox;
let follower: Launched;
beforeAll(() => {
  follower = startOutbox(outbox.url, api.url);
});

const refusals = async (): Promise<Json[]> =>
  (await client.query('select kind, target, id, problem from docket_outbox.refused order by no')).rows;
const addTicket = (id: string | null, queue = 'q') =>
  client.query('select docket_outbox.add_ticket($1, $2, $3)', [queue, id, { n: 1 }]);

describe('what a row becomes', () => {
  test('a ticket, a job and a case of one transaction, with their options', async () => {
    await api.cases.court('disputes');
    const body = { text: 'naïve "中文" 🙂', price: 12.5, deep: [[null, true]] };
    await client.query('begin');
    await client.query(
      `select docket_outbox.add_ticket(queue => 'reports', id => 'report-1', body => $1,
         options => '{"priority": 7, "requires": ["legal"], "subject": "post-1"}'),
       docket_outbox.add_job(topic => 'mails/new', id => 'mail 1', body => $1, delay => '1 day', ttr => '1 min 30 s',
         options => '{"priority": 3}'),
       docket_outbox.add_case(court => 'disputes', id => 'case-1', parties => '[{"id": "ann"}]', body => $1,
         options => '{"deadlineSeconds": 3600}')`,
      [body],
    );
    await client.query('commit');
    await outbox.drained();
    const ticket = { queue: 'reports', priority: 7, requires: ['legal'], subject: 'post-1', body, state: 'waiting' };
    expect(await api.tickets.ticket('report-1')).toMatchObject(ticket);
    const job = { topic: 'mails/new', delay: 86_400, TTR: 90, priority: 3, body, run: 1, state: 'delayed' };
    expect(await api.jobs.oneJob('mail 1')).toMatchObject(job);
    const { body: found } = await api.get('/v1/cases/case-1');
    expect(found).toMatchObject({ court: 'disputes', parties: [{ id: 'ann' }], body, state: 'open' });
    expect(found.deadlineAt).not.toBeNull();
    expect(await refusals()).toEqual([]);
  });

  test('defaults, a body that is null, fractions of seconds and of numbers', async () => {
    await client.query(`select docket_outbox.add_ticket('reports', 'report-2', null),
      docket_outbox.add_job('mails', 'mail-2', '0.10', options => null),
      docket_outbox.add_job('mails', 'mail-3', '"text"', interval '0.25 s')`);
    await outbox.drained();
    expect(await api.tickets.ticket('report-2')).toMatchObject({ body: null, priority: 0 });
    const job = { delay: 0, TTR: 60, priority: 1024, body: 0.1 };
    expect(await api.jobs.oneJob('mail-2')).toMatchObject(job);
    expect(await api.jobs.oneJob('mail-3')).toMatchObject({ delay: 0.25, body: 'text' });
  });

  test('the functions check types and that the id is not null, and fail in the transaction of their caller', async () => {
    await expect(addTicket(null)).rejects.toThrow('docket_outbox: a ticket needs an id, and it is null');
    const job = `select docket_outbox.add_job('t', null, '1')`;
    await expect(client.query(job)).rejects.toThrow('a job needs an id');
    const wrong = `select docket_outbox.add_case('c', 'x', 'no json', '1')`;
    await expect(client.query(wrong)).rejects.toThrow('invalid input syntax for type json');
    await expect(client.query(`select docket_outbox.add_job('t', 'x', '1', 'soon')`)).rejects.toThrow('interval');
    expect(await outbox.cell('select count(*)::int from docket_outbox.message')).toBe(0);
  });

  test('an option that is a parameter as well fails, and so does the key of a job', async () => {
    const parameters = {
      ticket: ['queue', 'id', 'body'],
      job: ['topic', 'id', 'body', 'delay', 'TTR', 'ttr', 'key'],
      case: ['court', 'id', 'parties', 'body'],
    };
    for (const [kind, fields] of Object.entries(parameters))
      for (const field of fields) {
        const parties = kind === 'case' ? `'[]',` : '';
        const add = `select docket_outbox.add_${kind}('q', 'x', ${parties} '1', options => $1)`;
        const error = await client.query(add, [{ [field]: 5, priority: 1 }]).catch((reason) => reason);
        const of = field === 'key' ? 'made by' : 'a parameter of';
        const message = `docket_outbox: options may not have ${field}, which is ${of} add_${kind}`;
        expect(error).toMatchObject({ code: '22023', message });
      }
    expect(await outbox.cell('select count(*)::int from docket_outbox.message')).toBe(0);
  });

  test('a rollback adds nothing, and one to a savepoint only what was before it', async () => {
    await client.query('begin');
    await addTicket('gone-1');
    await client.query('rollback');
    await client.query('begin');
    await addTicket('stays-1');
    await client.query('savepoint here');
    await addTicket('gone-2');
    await client.query('rollback to savepoint here');
    await addTicket('stays-2');
    await client.query('commit');
    await outbox.drained();
    const known = await cell(`select array_agg(id order by id) from item where id like 'gone-%' or id like 'stays-%'`);
    expect(known).toEqual(['stays-1', 'stays-2']);
  });

  test('a trigger of a table adds rows, for a user who may use the schema only', async () => {
    const user = `app_${randomBytes(4).toString('hex')}`;
    await client.query(`create table post (id int primary key, text text);
      create function ask() returns trigger language plpgsql as $$ begin
        perform docket_outbox.add_ticket('posts', 'post-' || new.id, to_jsonb(new));
        return new;
      end $$;
      create trigger ask after insert on post for each row execute function ask();
      create role ${user} login password 'secret';
      grant usage on schema docket_outbox to ${user};
      grant insert on post to ${user};`);
    const url = Object.assign(new URL(outbox.url), { username: user, password: 'secret' }).href;
    await onDatabase(url, async (app) => {
      await app.query(`set search_path = post`);
      await app.query(`insert into public.post select n, 'text ' || n from generate_series(1, 50) n`);
      for (const closed of ['message', 'refused', 'identity'])
        await expect(app.query(`select from docket_outbox.${closed}`)).rejects.toThrow('permission denied');
      await expect(app.query(`select docket_outbox.take(0)`)).rejects.toThrow('permission denied');
    });
    await outbox.drained();
    expect(await api.tickets.stats('posts')).toMatchObject({ waiting: 50 });
    expect(await api.tickets.ticket('post-7')).toMatchObject({ body: { id: 7, text: 'text 7' } });
  });

  test('the same id and content twice is one item; a job that is over begins its next run', async () => {
    for (let n = 0; n < 2; n++) {
      await addTicket('twice');
      await client.query(`select docket_outbox.add_job('again', 'again-1', '{"n": 1}')`);
    }
    await outbox.drained();
    expect(await api.jobs.oneJob('again-1')).toMatchObject({ run: 1 });
    await api.jobs.job('finish', { id: 'again-1' });
    await client.query(`select docket_outbox.add_job('again', 'again-1', '{"n": 2}')`);
    await outbox.drained();
    expect(await api.jobs.oneJob('again-1')).toMatchObject({ run: 2, body: { n: 2 }, state: 'ready' });
    expect(await refusals()).toEqual([]);
  });
});

describe('rows that Docket refuses', () => {
  test('they stay with their problem, beside others that are added', async () => {
    await addTicket('taken');
    await outbox.drained();
    await client.query(`select docket_outbox.add_ticket('q', 'taken', '"other"'),
      docket_outbox.add_ticket('q', 'bad id!', '1'), docket_outbox.add_ticket('', 'nowhere', '1'),
      docket_outbox.add_ticket(null, 'nowhere-2', '1'), docket_outbox.add_ticket('..', 'nowhere-3', '1'),
      docket_outbox.add_ticket('q', 'large', to_jsonb(repeat('x', 300000))),
      docket_outbox.add_ticket('q', 'huge', to_jsonb(repeat('x', 9000000))),
      docket_outbox.add_ticket('q', 'odd', '1', '{"colour": "red"}'), docket_outbox.add_ticket('q', 'odd-2', '1', '[1]'),
      docket_outbox.add_job('t', 'no-ttr', '1', ttr => '0'), docket_outbox.add_job('t', 'null-delay', '1', null),
      docket_outbox.add_job(null, 'no-topic', '1'), docket_outbox.add_job('t', 'rounded', '12345678901234567890'),
      docket_outbox.add_job('t', 'good-job', '1'),
      docket_outbox.add_case('no-court', 'case-2', '[]', '1'), docket_outbox.add_case('disputes', 'case-3', '3', '1'),
      docket_outbox.add_ticket('q', 'good', '1')`);
    await outbox.drained();
    const all = (await refusals()).map(({ id, problem }) => `${id}: ${problem.status} ${problem.code}`);
    expect(all).toEqual([
      'taken: 409 id_conflict',
      'bad id!: 422 invalid_request',
      ...['nowhere', 'nowhere-2', 'nowhere-3'].map((id) => expect.stringMatching(`^${id}: 4\\d\\d `)),
      ...['large', 'huge'].map((id) => `${id}: 413 payload_too_large`),
      ...['odd', 'odd-2', 'no-ttr', 'null-delay', 'no-topic', 'rounded'].map((id) => `${id}: 422 invalid_request`),
      'case-2: 404 not_found',
      'case-3: 422 invalid_request',
    ]);
    expect(await api.tickets.ticket('good')).toMatchObject({ state: 'waiting' });
    expect(await api.jobs.oneJob('good-job')).toMatchObject({ state: 'ready' });
    const [first] = await refusals();
    expect(first?.problem.detail).toBe('ticket taken exists with other content');
    expect(follower.output()).toMatch(/refused \d+, see docket_outbox.refused; (ticket|case|job) [\w-]+: ./);
  });

  test('they are sent again by retry, and refused again where nothing has changed', async () => {
    await api.cases.court('no-court');
    expect(await outbox.cell(`select docket_outbox.retry('case-2')`)).toBe('1');
    await client.query(`update docket_outbox.refused set entry = entry - 'colour' where id = 'odd'`);
    expect(await outbox.cell(`select sum(docket_outbox.retry(id)) from docket_outbox.refused`)).toBe('14');
    expect(await outbox.cell(`select docket_outbox.retry('unknown')`)).toBe('0');
    await outbox.drained();
    expect((await api.get('/v1/cases/case-2')).body).toMatchObject({ court: 'no-court' });
    expect(await api.tickets.ticket('odd')).toMatchObject({ body: 1 });
    await eventually(async () => (await refusals()).length === 13);
  });
});

test('SIGTERM ends the follower with what it has done', async () => {
  expect(await follower.end('SIGTERM')).toBe(0);
  expect(follower.output()).toMatch(/^docket outbox is ready: committed rows go to http:\/\/.*$/m);
  expect(follower.output()).toMatch(/^docket outbox: \d+ rows added, \d+ refused$/m);
});
