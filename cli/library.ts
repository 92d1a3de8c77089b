import type { HttpBindings } from '@hono/node-server';
import { IllegalStateError } from '@temporalio/common';
import { createApp } from '../api/app.ts';
import { reachTemporal } from '../api/system/health.ts';
import { readConfig } from '../runtime/config.ts';
import * as database from '../runtime/database.ts';
import type { Limits } from '../runtime/limits.ts';
import type { Log } from '../runtime/log.ts';
import { installRuntime } from '../worker/sdk.ts';
import { type Core, createLog, type Role, startCore } from './core.ts';

export interface DocketOptions {
  /** `postgres://…`; without the schema of this release, which `migrate(databaseUrl)` sees to, calls fail. */
  databaseUrl: string;
  /** `host:port` of Temporal. */
  temporalAddress: string;
  /** `api` answers calls, `worker` runs workflows and activities; default: both, `all`. */
  role?: 'api' | 'worker' | 'all';
  /** The path under which `fetch` is called, `/docket` say; default: none. */
  basePath?: string;
  /** Other settings by their names in docs/configuration.md. Keys are asked for unless DOCKET_AUTH is `open`. */
  settings?: Record<string, string>;
  /** Numbers of followers and calls that no setting changes; for measurements. */
  limits?: Partial<Limits>;
  /** Default: lines of JSON on standard error. */
  log?: Log;
}

export interface Docket {
  /** Answers a call to the API. `env` is that of `@hono/node-server`: bodies are read from its `incoming`. */
  fetch(request: Request, env: HttpBindings): Promise<Response>;
  /** Ends long polls and streams, waits for the calls that have come in, and ends the worker and all connections. No call may come after it. */
  stop(): Promise<void>;
}

/** No proxy protects it, so keys are required unless the program says otherwise. */
const DEFAULTS = { DOCKET_AUTH: 'keys' };

/**
 * Brings the schema to that of this release. Does nothing where it is up to date.
 * @param log is given a line for each step
 * @returns the names of the steps that were applied
 */
export function migrate(databaseUrl: string, log?: (line: string) => void): Promise<string[]> {
  return database.migrate(databaseUrl, log);
}

/**
 * Docket inside another program (docs/library.md). It opens no port, starts no server and catches no signal.
 * @throws Error that names the wrong setting, or the server that cannot be reached
 */
export async function createDocket(options: DocketOptions): Promise<Docket> {
  const { databaseUrl, temporalAddress, role = 'all', basePath = '', settings = {}, limits } = options;
  const stored = { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress };
  const config = readConfig({ ...DEFAULTS, ...settings, ...stored }, limits);
  const log = options.log ?? createLog(config, role);
  if (role !== 'api') shareRuntime(log);
  const stores = { databaseUrl, temporalAddress, temporalUiUrl: config.temporalUiUrl ?? null };
  const core = await startCore({ role, config, stores, log, url: config.publicUrl ?? null });
  const closing = new AbortController();
  const { app, worker } = await serving(core, role, basePath, closing.signal).catch(async (error: unknown) => {
    // the program may go on without Docket: none of its parts may stay
    closing.abort();
    core.endCalls();
    await core.stop().catch((reason: Error) => log.warn({ err: reason.message }, 'not everything could be stopped'));
    throw error;
  });
  const calls = new Set<Promise<unknown>>();
  return {
    async fetch(request, env) {
      if (!app) return new Response('no API in this process', { status: 404 });
      const call = Promise.resolve(app.fetch(request, env));
      calls.add(call);
      return call.finally(() => calls.delete(call));
    },
    async stop() {
      closing.abort();
      core.endCalls();
      await Promise.allSettled(calls);
      await worker?.stop();
      await core.stop();
    },
  };
}

async function serving(core: Core, role: Role, basePath: string, closing: AbortSignal) {
  const { api } = core;
  // its paths begin at the root, so it does not work under another path
  api?.console.fail();
  const app = api && (await createApp(api, basePath));
  if (api) reachTemporal(api, closing);
  const worker = role === 'api' ? null : await core.startWorker();
  return { app, worker };
}

/** A process has one runtime of the SDK: the program may have installed its own. */
function shareRuntime(log: Log): void {
  try {
    installRuntime(log);
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
