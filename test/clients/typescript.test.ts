import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { lastingPort } from '../support/ports.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { runExample } from './driver.ts';
import { typescriptKit } from './kits.ts';
import { testClient } from './scenarios/all.ts';
import { send } from './scenarios/callbacks.ts';

const system = await startTestSystem();
const idle = await startTestSystem({}, { role: 'api' });
const kit = typescriptKit();
testClient(system, idle, kit);

test("S0.10 the README's example with a database: fifty of one callback at two processes are handled once", async () => {
  const env = { DATABASE_URL: system.databaseUrl, DOCKET_CALLBACK_SECRET: SECRET };
  const start = async () => {
    const port = await lastingPort();
    const program = runExample(kit, 'versions', { ...env, PORT: String(port) });
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => (await fetch(url)).status === 401);
    return { program, url };
  };
  const [first, second] = [await start(), await start()];
  const message = (version: number) => ({ type: 'ticket.decided', version, ticket: { id: 'in-sql' } });
  const sent = Array.from({ length: 50 }, (_, n) => send(n % 2 === 0 ? first.url : second.url, message(3)));
  expect(await Promise.all(sent)).toEqual(Array(50).fill(204));
  expect(await send(first.url, message(2))).toBe(204);
  expect(first.program.output() + second.program.output()).toBe('ticket.decided: in-sql\n');
  expect(await send(second.url, message(4))).toBe(204);
  expect(first.program.output() + second.program.output()).toBe('ticket.decided: in-sql\n'.repeat(2));
});
