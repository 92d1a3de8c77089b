import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';

// In this process and not as a program: before it keeps things moving, the demo takes minutes.

/** Calls that may pass: fewer than all of its loops make at first. */
const PASSING = 9;

test('npm run demo -- --forever goes on while a failure may pass, and ends when its key counts no more', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const printed = vi.spyOn(console, 'error').mockReturnValue();
  let calls = 0;
  // conflicts, no answers, a server that is stopping, then a key that has been revoked
  const server = createServer((request, response) => {
    const status = ++calls > PASSING ? 401 : [409, 503][calls % 3];
    if (status === undefined) request.socket.destroy();
    else response.writeHead(status).end('{"detail": "as asked"}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  vi.stubEnv('DOCKET_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { liveOn } = await import('../../scripts/demo/life.ts');
  await expect(liveOn()).rejects.toThrow(/^DOCKET_KEY: .* answered 401 \(as asked\)/);
  const said = printed.mock.calls.flat().join('\n');
  for (const passing of ['409', 'nothing answers', '503']) expect(said).toContain(passing);
  expect(said).not.toContain('DOCKET_KEY');
}, 20_000);
