import { expect, test } from 'vitest';
import { startTestSystem } from '../support/system.ts';
import { Both } from './both.ts';
import { conversations, converse } from './conversations.ts';
import { oneConnection } from './lines.ts';
import { startOracle } from './oracle.ts';
import { Wire } from './wire.ts';

const oracle = await startOracle();
const { running } = await startTestSystem({ BEANSTALKD_PORT: '0' }, { role: 'api' });
const port = running.beanstalkd?.port ?? 0;
const cases = { ...oneConnection, ...conversations };
const both = new Both({ oracle: oracle.port, docket: port });

test.each(Object.keys(cases))('S3.8 %s, as beanstalkd does it', async (name) => {
  await converse(both, cases[name] ?? []);
});

test('S3.8 what beanstalkd 1.13 refuses and 1.12 takes', async () => {
  const wire = await Wire.open(port);
  for (const line of ['reserve-with-timeout -1', 'reserve-with-timeout 2147483648'])
    expect(await wire.ask(line)).toBe('BAD_FORMAT\r\n');
  wire.close();
});

test('S3.8 a line of 225 bytes is refused and nothing behind it', async () => {
  const wire = await Wire.open(port);
  wire.send(`${'x'.repeat(223)}\r\nlist-tube-used\r\n`);
  expect(await wire.reply()).toBe('BAD_FORMAT\r\n');
  expect(await wire.reply()).toBe('USING default\r\n');
  wire.close();
});

test('S3.8 a line may come byte by byte, and a body in pieces', async () => {
  const wire = await Wire.open(port);
  for (const byte of 'put 0 0 60 5\r\nhel') wire.send(byte);
  await new Promise((resolve) => setTimeout(resolve, 20));
  wire.send('lo\r');
  await new Promise((resolve) => setTimeout(resolve, 20));
  wire.send('\n');
  const [, number] = (await wire.reply()).trim().split(' ');
  expect(await wire.ask(`peek ${number}`)).toBe(`FOUND ${number} 5\r\nhello\r\n`);
  wire.close();
});
