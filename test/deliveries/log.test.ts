import { expect, test } from 'vitest';
import { settingsFor, startChild } from '../support/child.ts';
import { eventually, ndjson } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { testStores } from '../support/system.ts';
import { add } from '../support/tickets.ts';

test('S0.10 processes say where they listen, and log start, stop, each request and each attempt at a delivery, without secrets', async () => {
  const stores = await testStores();
  const env = settingsFor(stores, { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1', LOG_LEVEL: 'info' });
  const [server, worker] = await Promise.all([
    startChild('api', env),
    startChild('worker', { ...env, METRICS_PORT: '0' }),
  ]);
  const metrics = /^Docket worker is ready, metrics (127\.0\.0\.1:\d+)$/m.exec(worker.output())?.[1];
  const { callback } = await startReceiver((n) => (n === 1 ? 500 : 204));
  await server.api.post('/v1/queues/logged/tickets', {
    ...{ id: 'logged', body: 'private', callback: { ...callback, url: `${callback.url}?key=hidden` } },
  });
  const sent = { decision: 'ok', reason: 'r' };
  await server.api.post('/v1/tickets/logged/resolve', sent, { 'x-request-id': 'call-7' });
  const delivered = async () => (await server.api.get('/v1/tickets/logged/deliveries')).body.items[0]?.state;
  await eventually(async () => (await delivered()) === 'delivered');
  const scraped = await (await fetch(`http://${metrics}/metrics`)).text();
  for (const line of ['docket_temporal_down 0', 'temporal_num_pollers{', 'process_cpu_seconds_total '])
    expect(scraped).toContain(`\n${line}`);
  expect(scraped, 'what is of the whole system is shown by API processes').not.toContain('docket_items');
  await Promise.all([server.end('SIGTERM'), worker.end('SIGTERM')]);
  const lines = (text: string) => ndjson(text.replaceAll(/^[^{].*$/gm, ''));
  for (const output of [server.output(), worker.output()]) {
    expect(lines(output).map((l) => l.msg)).toEqual(expect.arrayContaining(['started', 'stopping', 'stopped']));
    expect(output).not.toMatch(/hidden|whsec_|private/);
  }
  expect(lines(server.output()).find((l) => l.requestId === 'call-7')).toMatchObject({
    ...{ level: 30, msg: 'request', method: 'POST', route: '/v1/tickets/:id/resolve', status: 200 },
    ms: expect.any(Number),
  });
  const common = { kind: 'ticket', item: 'logged', n: 1, url: callback.url };
  expect(lines(worker.output()).filter((l) => l.item === 'logged')).toMatchObject([
    { ...common, level: 40, status: 500, attempt: 1, error: 'answered 500', nextAttemptAt: expect.any(String) },
    { ...common, level: 30, status: 204, attempt: 2, msg: 'delivered' },
  ]);
}, 90_000);

test('S0.10 docket start logs failed deliveries as lines for people, whatever others have put into them', async () => {
  const env = settingsFor(await testStores(), { DOCKET_ALLOW_PRIVATE_CALLBACKS: '1', LOG_LEVEL: 'info' });
  const docket = await startChild('start', env);
  const { callback, received } = await startReceiver((n) => (n === 1 ? 500 : 204));
  await docket.api.get(`/v1/tickets/${encodeURIComponent('\u001b[31mred\n{"level":60}')}`);
  await add(docket.api, 'read', { id: 'read', callback });
  await docket.api.post('/v1/tickets/read/resolve', { decision: 'ok', reason: 'r' });
  await eventually(async () => received.length === 2);
  await docket.end('SIGTERM');
  const lines = docket.output().split('\n');
  const time = /\d\d:\d\d:\d\d/.source;
  const failed = `^${time} warning: not delivered: ticket read to ${callback.url}, attempt 1, answered 500; next attempt at ${time} \\(`;
  expect(lines.filter((line) => new RegExp(failed).test(line))).toHaveLength(1);
  expect(lines).toContainEqual(expect.stringMatching(`^${time} info: stopped \\(node `));
  expect(docket.output()).toContain('\\u001b[31mred');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the harmful ones
  expect(docket.output()).not.toMatch(/\u001b|^\{/m);
});
