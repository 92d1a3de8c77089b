import { onTestFinished } from 'vitest';
import { startTestSystem, type TestSystem } from '../support/system.ts';
import { Both } from './both.ts';
import { startOracle } from './oracle.ts';
import { Wire } from './wire.ts';

export interface TubeSystem extends TestSystem {
  port: number;
  /** A connection that lasts until the test ends. */
  open(): Promise<Wire>;
  /** One that uses and watches one tube only. */
  at(tube: string): Promise<Wire>;
}

/** Docket with beanstalkd's protocol; without a worker, which would take the processors from what is compared. */
export async function startTubes(
  options: Parameters<typeof startTestSystem>[1] = { role: 'api' },
): Promise<TubeSystem> {
  const system = await startTestSystem({ BEANSTALKD_PORT: '0' }, options);
  const port = system.running.beanstalkd?.port ?? 0;
  const open = async () => {
    const wire = await Wire.open(port);
    onTestFinished(() => wire.close());
    return wire;
  };
  const at = async (tube: string) => {
    const wire = await open();
    for (const line of [`use ${tube}`, `watch ${tube}`, 'ignore default']) await wire.ask(line);
    return wire;
  };
  return { ...system, port, open, at };
}

/** The same with beanstalkd beside it. */
export async function startBoth(): Promise<TubeSystem & { both: Both; version: string }> {
  const oracle = await startOracle();
  const docket = await startTubes();
  // beanstalkd was connected to once, to see that it runs
  (await Wire.open(docket.port)).close();
  return { ...docket, both: new Both({ oracle: oracle.port, docket: docket.port }), version: oracle.version };
}

/** The number of the job in a reply. */
export const numberOf = (reply: string): number => Number(reply.split(' ')[1]);
