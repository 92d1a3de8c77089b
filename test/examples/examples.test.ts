import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { pythonKit } from '../clients/kits.ts';
import { emptyDatabase } from '../support/database.ts';
import { needDebian } from '../support/debian.ts';
import { startEndpoint } from '../support/nexus.ts';
import { pythonWith } from '../support/python.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({ BEANSTALKD_PORT: '0', DOCKET_NEXUS_QUEUES: 'approvals' });
// first: a server learns of an endpoint a while after it was made
await startEndpoint(system);
const root = join(import.meta.dirname, '../..');

/** What an example prints. It has to end by itself and without an error. */
async function printed(command: string[], ...args: string[]): Promise<string> {
  const [program = '', ...first] = command;
  const env = {
    ...process.env,
    DOCKET_SERVERS: system.running.url ?? '',
    BEANSTALKD_PORT: String(system.running.beanstalkd?.port),
    ...{ TEMPORAL_ADDRESS: inject('temporal'), TEMPORAL_NAMESPACE: system.namespace },
    DOCKET_ENDPOINT: `docket-of-${system.namespace}`,
  };
  const { stdout } = await promisify(execFile)(program, [...first, ...args], { cwd: root, env, timeout: 100_000 });
  return stdout;
}

const tsx = [process.execPath, '--import', 'tsx'];
const python = pythonKit(inject('cacheDir')).command.slice(0, 1);

const bots: [file: string, queue: string, command: string[]][] = [
  ['moderation-bot.ts', 'chat-reports', tsx],
  // its threads must not write into each other's lines, however slow the terminal is
  ['moderation_bot.py', 'forum-reports', [...python, 'test/support/slow_output.py']],
];

test.each(bots)(
  'S0.2 S0.4 %s decides what is obvious and leaves the rest to people, run after run',
  async (file, queue, command) => {
    for (let run = 1; run <= 2; run++) {
      const text = await printed(command, `examples/${file}`, '--once');
      expect(text.match(/^remove /gm)).toHaveLength(3);
      expect(text.match(/^keep /gm)).toHaveLength(2);
      expect(text.match(/^a person /gm)).toHaveLength(1);
      const { body } = await system.api.get(`/v1/queues/${queue}/stats`);
      expect(body).toMatchObject({ decided: run * 5, waiting: run, held: 0 });
    }
    const { body } = await system.api.post(`/v1/queues/${queue}/claim`, { reviewer: 'a-person' });
    expect(body.tickets[0].body.text).toContain('potato');
  },
  240_000,
);

test('B.2 moderation_model.py decides what its classifier is sure of and leaves the rest to people, run after run', async () => {
  const python = pythonWith(inject('cacheDir'), 'model', [
    'alt-profanity-check==1.9.1',
    '--editable',
    join(root, 'clients/python'),
  ]);
  for (let run = 1; run <= 2; run++) {
    const text = await printed([python], 'examples/moderation_model.py', '--once');
    expect(text.match(/^(remove|keep) \d/gm)).toHaveLength(5);
    const { body } = await system.api.get('/v1/queues/comments/stats');
    expect(body).toMatchObject({ decided: run * 4, held: 0 });
    // and perhaps a second look
    expect(body.waiting).toBeGreaterThanOrEqual(run);
  }
  const { items } = (await system.api.get('/v1/queues/comments/suggestions/figures')).body;
  expect(items).toMatchObject([{ model: 'profanity-1', mode: 'auto', saved: 1 }]);
}, 400_000);

test('S2.2 jury.ts has each dispute decided by three votes, run after run', async () => {
  for (let run = 1; run <= 2; run++) {
    const text = await printed(tsx, 'examples/jury.ts');
    expect(text.match(/: (buyer|seller) \(/g)).toHaveLength(3);
    const { body } = await system.api.get('/v1/courts/marketplace-disputes/stats');
    expect(body).toMatchObject({ decided: run * 3, open: 0 });
  }
}, 120_000);

test('S1.3 S1.4 picture-audit.ts has decisions go into a review, and hears of each change once and in order', async () => {
  const text = await printed(tsx, 'examples/picture-audit.ts');
  const versions = [...text.matchAll(/^version (\d+)/gm)].map(([, version]) => Number(version));
  expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
  expect(text.trimEnd().split('\n').at(-1)).toContain('street 5, menu 5, passport 9');
}, 120_000);

test('B.1 agent.ts has two of three requests decided over MCP, run after run', async () => {
  for (let run = 1; run <= 2; run++) {
    const text = await printed(tsx, 'examples/agent.ts');
    expect(text.match(/^order \d+: paid back$/gm)).toHaveLength(2);
    expect(text).toContain('order 102: waits for a person');
    expect((await system.api.get('/v1/queues/refunds/stats')).body).toMatchObject({ decided: run * 2, waiting: run });
  }
}, 120_000);

test('B.1 sql-outbox.ts has a ticket for the committed post only, run after run', async () => {
  const url = await emptyDatabase(system.databaseUrl);
  for (let run = 1; run <= 2; run++) {
    const text = await printed(tsx, 'examples/sql-outbox.ts', url);
    expect(text).toContain('the committed post waits');
    expect(text).toContain('rolled back has no ticket');
    expect((await system.api.get('/v1/queues/posts/stats')).body).toMatchObject({ waiting: run });
  }
}, 120_000);

test("S3.1 S3.2 S3.4 laravel_worker.php: Laravel's own queue adds, delays and retries on Docket", async () => {
  needDebian('php-cli', 'php-pda-pheanstalk', 'php-illuminate-queue', 'php-illuminate-bus', 'php-illuminate-events');
  for (let run = 1; run <= 2; run++) {
    const text = await printed(['php'], 'examples/laravel_worker.php', '--once');
    const receipts = ['receipt for anna, attempt 1', 'receipt for cem, attempt 1'];
    expect(text.match(/^receipt for (anna|cem), attempt 1$/gm)?.toSorted(), text).toEqual(receipts);
    expect(text).toContain('failed: the mail server does not answer');
    expect(text).toContain('receipt for ben, attempt 2');
  }
}, 120_000);

test('B.1 purchase_workflow.py waits for a person, and goes on', async () => {
  const python = pythonWith(inject('cacheDir'), 'temporal', ['temporalio==1.35.0']);
  // Temporal's library for Python sometimes crashes while the interpreter ends
  const asked = printed([python], 'examples/purchase_workflow.py', 'order-7').catch((error) => error.stdout);
  const claim = { reviewer: 'ben', waitSeconds: 30 };
  const { body } = await system.api.post('/v1/queues/approvals/claim', claim);
  const [{ id, lease }] = body.tickets;
  await system.api.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: { approve: true } });
  expect(await asked).toMatch(/^order-7 waits at http.*\/desk\/approvals\norder-7 is paid, approved by ben\n$/);
}, 120_000);
