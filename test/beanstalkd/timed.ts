import { setTimeout as sleep } from 'node:timers/promises';
import type { Both } from './both.ts';
import { Random } from './random.ts';

const COMMANDS = 60;
/** All that ends does so in whole seconds after the commands, so that a look between two seconds is no race. */
const SET_MS = 400;
const LOOK_AT_MS = [650, 1650, 2650, 3650];

/**
 * What the passing of time does: delays and pauses of 1 to 3 s are set within a moment, then both servers
 * are looked at between the seconds until all of it is over. TTRs are long here: beanstalkd 1.12 ends one late
 * where a connection holds several jobs, or was told DEADLINE_SOON, so it is no measure of them.
 */
export async function timedTrace(both: Both, seed: number): Promise<void> {
  const r = new Random(seed);
  both.begin();
  const pairs = [await both.open(), await both.open(), await both.open()];
  let jobs = 0;
  const seconds = () => r.of([0, 1, 2, 3]);
  const job = () => `{${1 + r.int(jobs + 1)}}`;
  const start = performance.now();
  for (let n = 0; n < COMMANDS && performance.now() - start < SET_MS; n++) {
    const command = r.weighted<() => string>([
      [8, () => `put ${r.int(3)} ${seconds()} 1000 1\r\n${++jobs % 10}`],
      [6, () => 'reserve-with-timeout 0'],
      [2, () => `reserve-job ${job()}`],
      [2, () => `release ${job()} ${r.int(3)} ${seconds()}`],
      [2, () => `touch ${job()}`],
      [2, () => `bury ${job()} 0`],
      [1, () => `kick ${r.int(3)}`],
      [1, () => `delete ${job()}`],
      [1, () => `pause-tube default ${seconds()}`],
    ]);
    await r.of(pairs).ask(command());
  }
  const [pair] = pairs;
  if (!pair) return;
  if (performance.now() - start > SET_MS) await sleep(LOOK_AT_MS.at(-1));
  for (const at of LOOK_AT_MS) {
    await sleep(Math.max(0, start + at - performance.now()));
    for (let n = 1; n <= jobs; n++) await pair.ask(`stats-job {${n}}`);
    for (const line of ['stats-tube default', 'stats', 'peek-ready', 'peek-delayed', 'peek-buried'])
      await pair.ask(line);
  }
  // what a connection has reserved, only its end gives back to be deleted
  for (const one of pairs) await one.end();
  const last = await both.open();
  for (let n = 1; n <= jobs; n++) await last.ask(`delete {${n}}`);
  await last.end();
}
