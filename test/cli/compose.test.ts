import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, inject, test, vi } from 'vitest';
import { startChild } from '../support/child.ts';
import { docket } from '../support/cli.ts';
import { api, eventually } from '../support/client.ts';
import { environmentOf, services } from '../support/compose.ts';
import { emptyDatabase } from '../support/database.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { testStores } from '../support/system.ts';
import { decided } from '../support/tickets.ts';

// a program for each call, and machines that are shared stall for seconds
vi.setConfig({ testTimeout: 200_000 });

const stores = await testStores();

test('S3.6 the processes of docker-compose.yml, each with its command and its environment, from an empty database on', async () => {
  const receiver = await startReceiver();
  const env = {
    DOCKET_ALLOW_PRIVATE_CALLBACKS: new URL(receiver.url).host,
    TEMPORAL_NAMESPACE: stores.namespace,
    BEANSTALKD_PORT: '0',
  };
  /** Where the stores are is the network's of the containers, and the port is the host's here. */
  const here = { DATABASE_URL: await emptyDatabase(stores.databaseUrl), TEMPORAL_ADDRESS: stores.temporalAddress };
  const of = (name: string) => ({ ...environmentOf(services[name], env), ...here, DOCKET_CACHE: inject('cacheDir') });
  const programOf = (name: string) => {
    const [node, program, command = ''] = services[name]?.command ?? [];
    expect([node, program], name).toEqual(['node', 'cli/docket.mjs']);
    return command;
  };

  expect(await docket([programOf('migrate')], of('migrate'))).toMatchObject({ code: 0, stderr: '' });
  const worker = await startChild(programOf('worker'), of('worker'));
  const server = await startChild(programOf('api'), { ...of('api'), PORT: '0' });
  const url = server.api.url.replace('0.0.0.0', '127.0.0.1');
  expect(server.output()).toContain('beanstalkd 0.0.0.0:');

  const [, node = '', ...check] = services.api?.healthcheck?.test ?? [];
  const at = check.map((text) => text.replaceAll('http://127.0.0.1:3000', url));
  expect(at).not.toEqual(check);
  await promisify(execFile)(node, at);

  // as README has it: docker compose exec api node cli/docket.mjs key create --role admin
  const { stdout } = await docket(['key', 'create', '--role', 'admin'], of('api'));
  const key = /docket_[0-9a-f]{12}_[\w-]{43}/.exec(stdout)?.[0] ?? '';
  const client = api(url, key);
  expect((await api(url).get('/v1/queues')).status).toBe(401);
  await eventually(async () => (await client.get('/readyz')).body.status === 'ok', 60_000);

  await decided(client, 'q', { id: 'one', callback: receiver.callback });
  const message = await eventually(async () => receiver.received[0], 60_000);
  expect(opened(message)).toMatchObject({ type: 'ticket.decided', ticket: { id: 'one' } });

  expect(await Promise.all([server.end('SIGTERM'), worker.end('SIGTERM')])).toEqual([0, 0]);
});
