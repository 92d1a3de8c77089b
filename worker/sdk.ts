import { DefaultLogger, Runtime as Sdk } from '@temporalio/worker';
import type { Log } from '../runtime/log.ts';

let installed = false;
let metricsUrl: string | undefined;

/**
 * Installs the SDK's runtime, once per process and before the first connection. Its warnings and errors go to `log`.
 * @param metricsPort the port on loopback where the SDK serves its metrics; undefined: it keeps none
 */
export function installRuntime(log: Log, metricsPort?: number): void {
  if (installed) return;
  installed = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (/^No (workflows|activities) registered/.test(message)) return;
    // an Error as it is would be logged as {}
    const { error, ...rest } = meta ?? {};
    const said = { ...rest, ...(error instanceof Error ? { err: error.message } : error !== undefined && { error }) };
    if (level === 'ERROR') log.error(said, message);
    else log.warn(said, message);
  });
  const bindAddress = `127.0.0.1:${metricsPort}`;
  const prometheus = { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
  const metrics = metricsPort === undefined ? {} : { metrics: { prometheus } };
  if (metricsPort !== undefined) metricsUrl = `http://${bindAddress}/metrics`;
  Sdk.install({
    logger,
    telemetryOptions: { logging: { filter: 'WARN', forward: {} }, ...metrics },
    shutdownSignals: [],
  });
}

const ANSWER_MS = 2_000;

/** The metrics of the SDK (`temporal_…`) in Prometheus' text format; empty where it keeps none. */
export async function sdkMetrics(): Promise<string> {
  if (metricsUrl === undefined) return '';
  const response = await fetch(metricsUrl, { signal: AbortSignal.timeout(ANSWER_MS) });
  return response.text();
}
