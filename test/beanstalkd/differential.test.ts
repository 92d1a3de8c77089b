import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { conversations, converse } from './conversations.ts';
import { oneConnection } from './lines.ts';
import { numberOf, startBoth } from './system.ts';
import { timedTrace } from './timed.ts';
import { Trace } from './trace.ts';

// a thousand commands, each sent to both when the one before has been answered
vi.setConfig({ testTimeout: 300_000 });

const TRACES = byNight(20, 6);
const COMMANDS_EACH = 1_050;
// the same on every run, so that a failure is of the change at hand; another one to look for more
const seed = Number(process.env.BEANSTALKD_SEED ?? 100);

const { both, open, version } = await startBoth();
process.stdout.write(`compared with ${version}; BEANSTALKD_SEED=${seed}\n`);
afterAll(() => void process.stdout.write(`${both.compared} replies of ${version} and Docket were the same\n`));

let differ = false;

/** After a difference the servers no longer hold the same, and nothing that follows means anything. */
async function alike(trace: () => Promise<void>): Promise<void> {
  expect(differ, 'an earlier trace has left the servers different').toBe(false);
  differ = true;
  await trace();
  differ = false;
}

test.each(repeat(TRACES, (n) => seed + n))('S3.8 beanstalkd and Docket answer the same: seed %i', async (of) => {
  await alike(() => new Trace(both, of).run(COMMANDS_EACH));
});

test.each([seed, seed + 1, seed + 2, seed + 3])(
  'S3.8 runs of pipelined commands are answered as one after the other: seed %i',
  async (of) => {
    await alike(() => new Trace(both, of, 0.8).run(COMMANDS_EACH));
  },
);

test.each([seed, seed + 1, seed + 2])('S3.3 S3.8 time passes the same: seed %i', async (of) => {
  await alike(() => timedTrace(both, of));
});

test(`S3.8 the comparison is of ${TRACES * COMMANDS_EACH} replies at least`, () => {
  expect(both.compared).toBeGreaterThan(TRACES * COMMANDS_EACH);
});

const cases = { ...oneConnection, ...conversations };

test.each(Object.keys(cases))('S3.8 %s, as beanstalkd does it', async (name) => {
  await converse(both, cases[name] ?? []);
});

test('S3.8 what beanstalkd 1.13 refuses and 1.12 takes', async () => {
  const wire = await open();
  for (const line of ['reserve-with-timeout -1', 'reserve-with-timeout 2147483648'])
    expect(await wire.ask(line)).toBe('BAD_FORMAT\r\n');
});

test('S3.8 a line of 225 bytes is refused and nothing behind it', async () => {
  const wire = await open();
  wire.send(`${'x'.repeat(223)}\r\nlist-tube-used\r\n`);
  expect(await wire.reply()).toBe('BAD_FORMAT\r\n');
  expect(await wire.reply()).toBe('USING default\r\n');
});

test('S3.8 a line may come byte by byte, and a body in pieces', async () => {
  const wire = await open();
  for (const byte of 'put 0 0 60 5\r\nhel') wire.send(byte);
  await sleep(20);
  wire.send('lo\r');
  await sleep(20);
  wire.send('\n');
  const number = numberOf(await wire.reply());
  expect(await wire.ask(`peek ${number}`)).toBe(`FOUND ${number} 5\r\nhello\r\n`);
});
