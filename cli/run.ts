import { resolve } from 'node:path';
import type { Config } from '../runtime/config.ts';
import { needDatabaseUrl } from './database.ts';
import type { RunningProcess } from './process.ts';
import { npmEnded } from './servers/children.ts';
import { startSystem } from './start.ts';

/** Of a server with the defaults, which the demo calls without DOCKET_URL. */
const DEFAULT_URL = 'http://127.0.0.1:3000';

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
    // asked to stop while still starting: the parts that run already must be ended too
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
  const system = await startSystem(config, (line) => console.log(line), signal);
  console.log(`Docket is ready after ${((Date.now() - began) / 1000).toFixed(1)} s.
  console, API  ${system.url}
  docs          ${system.url}/docs
  Temporal UI   ${system.temporalUiUrl ?? '(of your server)'}
  beanstalkd    ${system.beanstalkd?.address ?? 'off; BEANSTALKD_PORT=11300 opens it'}
  delay-queue   ${system.delayQueue?.address ?? 'off; DELAY_QUEUE_PORT=9277 opens it'}
  metrics       ${system.url}/metrics${system.metrics ? `, ${system.metrics.address}` : ''}
  data          ${config.dataDir}
${nextSteps(config, system.url)}
  Stop: Ctrl-C`);
  return system;
}

/** The next steps, as they can be typed in another terminal of the same folder. */
function nextSteps({ open, dataDir }: Config, url: string | null): string {
  const at = url === DEFAULT_URL ? '' : `DOCKET_URL=${url} `;
  if (open) return `  No keys are asked for: this server answers to this machine only.\n  Try: ${at}npm run demo`;
  const data = dataDir === resolve('.docket') ? '' : `DOCKET_DATA=${dataDir} `;
  return `  Keys are asked for. Create one: ${data}npx docket key create --role admin
  Try: ${at}DOCKET_KEY=<that key> npm run demo`;
}

async function startPart(role: 'api' | 'worker', config: Config): Promise<RunningProcess> {
  const stores = {
    databaseUrl: needDatabaseUrl(config),
    temporalAddress: config.temporalAddress,
    temporalUiUrl: config.temporalUiUrl ?? null,
  };
  const { startProcess } = await import('./process.ts');
  const running = await startProcess(role, config, stores);
  const { url, beanstalkd, delayQueue, metrics } = running;
  const others = Object.entries({ beanstalkd, 'delay-queue': delayQueue, metrics });
  const also = others.flatMap(([name, open]) => (open ? `, ${name} ${open.address}` : []));
  console.log(`Docket ${role} is ready${url ? `: ${url}` : ''}${also.join('')}`);
  return running;
}
