import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { conversations, converse } from './conversations.ts';
import { oneConnection } from './lines.ts';
import { numberOf, startBoth } from './system.ts';

const { both, open } = await startBoth();
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
