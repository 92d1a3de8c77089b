import type { Config } from '../runtime/config.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { npmEnded } from './servers/npm.ts';
import { type RunningSystem, startSystem } from './start.ts';

/** Runs until SIGTERM or SIGINT, or until npm, which started it, has ended. */
export async function run(what: 'start' | 'api' | 'worker', config: Config): Promise<void> {
  const began = Date.now();
  const asked = new AbortController();
  const stopping = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
    npmEnded().then(resolve);
  });
  stopping.then(() => asked.abort());
  const starting = what === 'start' ? startAll(config, began, asked.signal) : startPart(what, config);
  const running = await Promise.race([starting, stopping]);
  if (!running) {
    // asked to stop while still starting: what has been started must be ended too
    await starting.then((system) => system.stop()).catch(() => {});
    process.exit(0);
  }
  const { beanstalkd } = running;
  if (beanstalkd) process.on('SIGUSR1', () => beanstalkd.drain());
  await stopping;
  await running.stop();
  process.exit(0);
}

async function startAll(config: Config, began: number, signal: AbortSignal): Promise<RunningProcess> {
  console.log('Docket is starting …');
  const system: RunningSystem = await startSystem(config, (line) => console.log(line), signal);
  console.log(`Docket is ready after ${((Date.now() - began) / 1000).toFixed(1)} s.
  console, API  ${system.url}
  docs          ${system.url}/docs
  Temporal UI   ${system.temporalUiUrl ?? '(of your server)'}
  beanstalkd    ${system.beanstalkd?.address ?? 'off; BEANSTALKD_PORT=11300 opens it'}
  data          ${config.dataDir}
  ${config.open ? 'No keys are asked for: this server answers to this machine only.' : 'Keys are asked for: npx docket key create --role admin'}
  Try: npm run demo     Stop: Ctrl-C`);
  return system;
}

async function startPart(role: 'api' | 'worker', config: Config): Promise<RunningProcess> {
  if (!config.databaseUrl) throw new Error(`docket ${role} needs DATABASE_URL`);
  const stores = {
    databaseUrl: config.databaseUrl,
    temporalAddress: config.temporalAddress,
    temporalUiUrl: config.temporalUiUrl ?? null,
  };
  const running = await startProcess(role, config, stores);
  const { url, beanstalkd } = running;
  console.log(
    `Docket ${role} is ready${url ? `: ${url}` : ''}${beanstalkd ? `, beanstalkd ${beanstalkd.address}` : ''}`,
  );
  return running;
}
