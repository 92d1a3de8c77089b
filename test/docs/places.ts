import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { lastingPort } from '../support/ports.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';
import type { Document } from './documents.ts';
import type { Place } from './shells.ts';

const LEFT_OUT = new Set(['.git', '.docket', 'node_modules']);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Ports that documents write: of servers that they have their reader start, 4000 is that of receivers of callbacks. */
const READERS_PORTS = ['4000', '6399', '11301'];

/** A running system, and how a document is pasted so that it means this one. */
export interface Docs {
  /** A text of the document, with the ports of this run. */
  mapped(text: string): string;
  /** A copy of the checkout in which files may be made, and the environment of its shells. */
  place(): Place;
}

/**
 * Starts Docket as a document has its reader start it.
 * @param environment of `npm start`; of its `…_PORT`s free ones are taken
 */
export async function startFor(environment: Document['environment']): Promise<Docs> {
  const ports = new Map<string, string>();
  for (const port of READERS_PORTS) ports.set(port, String(await lastingPort()));
  const env: Record<string, string> = { DOCKET_ALLOW_PRIVATE_CALLBACKS: '0' };
  for (const [name, value] of Object.entries(environment)) {
    if (name.endsWith('_PORT')) ports.set(value, String(await lastingPort()));
    env[name] = ports.get(value) ?? value;
  }
  const system = await startTestSystem(env);
  ports.set('3000', new URL(system.api.url).port);
  ports.set('7233', inject('temporal').split(':')[1] ?? '');
  const written = new RegExp(`\\b(${[...ports.keys()].join('|')})\\b`, 'g');
  return {
    mapped: (text) => text.replaceAll(written, (port) => ports.get(port) ?? port),
    place: () => placeFor(system, env),
  };
}

function placeFor(system: TestSystem, env: Record<string, string>): Place {
  const dir = mkdtempSync(join(tmpdir(), 'docket-docs-'));
  const cwd = join(dir, 'docket');
  const bin = join(dir, 'bin');
  for (const folder of [cwd, bin]) mkdirSync(folder);
  for (const name of readdirSync(ROOT)) if (!LEFT_OUT.has(name)) symlinkSync(join(ROOT, name), join(cwd, name));
  // found from below as well, and no block can empty it
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  symlinkSync(inject('temporalCli'), join(bin, 'temporal'));
  const { PATH = '', HOME = '', LANG = 'C.UTF-8' } = process.env;
  return {
    cwd,
    env: {
      ...{ HOME, LANG, PATH: [bin, dirname(process.execPath), PATH].join(delimiter) },
      ...env,
      PORT: new URL(system.api.url).port,
      DOCKET_CACHE: inject('cacheDir'),
      DATABASE_URL: system.databaseUrl,
      TEMPORAL_ADDRESS: inject('temporal'),
      TEMPORAL_NAMESPACE: system.namespace,
      // the reader's own database
      OLD_DATABASE_URL: new URL('/postgres', system.databaseUrl).href,
      APP_DATABASE_URL: new URL('/postgres', system.databaseUrl).href,
      npm_config_cache: join(dir, 'npm'),
      npm_config_update_notifier: 'false',
    },
  };
}

export const removePlace = ({ cwd }: Place): void => rmSync(dirname(cwd), { recursive: true, force: true });
