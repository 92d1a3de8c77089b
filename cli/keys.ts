import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Name, Time } from '../contract/common.ts';
import { QueuePattern, Role } from '../contract/keys.ts';
import type { Config } from '../runtime/config.ts';
import { withDatabase } from '../runtime/database.ts';
import { type KeyService, keyService } from '../services/keys.ts';

const MAX_LISTED = 100_000;

/** `docket key create|list|revoke`, on DATABASE_URL or on the data folder of a running `docket start`. */
export async function keyCommand(config: Config, args: string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const options = { role: text, subject: text, name: text, queues: text, expires: text } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  await withDatabase(databaseOf(config), async (db) => {
    const keys = keyService(db);
    if (positionals[0] === 'create') await create(keys, values);
    else if (positionals[0] === 'list') await list(keys);
    else if (positionals[0] === 'revoke') await revoke(keys, positionals[1]);
    else throw new Error('docket key create|list|revoke');
  });
}

interface Values {
  role?: string;
  subject?: string;
  name?: string;
  /** Names and prefixes with `*`, by commas. */
  queues?: string;
  expires?: string;
}

async function create(keys: KeyService, values: Values): Promise<void> {
  const role = Role.options.find((r) => r === values.role);
  if (!role) throw new Error(`--role must be one of ${Role.options.join(', ')}`);
  const subject = values.subject ?? null;
  if (role === 'reviewer' && subject === null) throw new Error('a reviewer key needs --subject: who it speaks for');
  for (const given of [subject, values.name])
    if (given && !Name.safeParse(given).success) throw new Error(`${given} is not a name`);
  const queues = values.queues?.split(',') ?? null;
  for (const given of queues ?? [])
    if (!QueuePattern.safeParse(given).success)
      throw new Error(`--queues: ${given} is neither a name nor a prefix with *`);
  const expiresAt = values.expires ?? null;
  if (expiresAt !== null && !Time.safeParse(expiresAt).success)
    throw new Error(`--expires: ${expiresAt} is not a time like 2027-01-31T00:00:00Z`);
  const made = { name: values.name ?? subject ?? role, role, subject, queues, expiresAt };
  const { row, key } = await keys.create(made);
  console.log(`${key}\n\nThis is the only time the key is shown. Its id is ${row.id}.`);
}

async function list(keys: KeyService): Promise<void> {
  for (const k of (await keys.list(null, MAX_LISTED)).reverse()) {
    const more = [
      k.queues && `queues ${k.queues.join(',')}`,
      k.expires_at && `expires ${k.expires_at.toISOString()}`,
      k.revoked_at && `revoked ${k.revoked_at.toISOString()}`,
    ].filter(Boolean);
    console.log([k.id, k.role, k.subject ?? '-', k.name, k.created_at.toISOString(), ...more].join('  '));
  }
}

async function revoke(keys: KeyService, id: string | undefined): Promise<void> {
  if (!id || !(await keys.revoke(id))) throw new Error(`there is no live key ${id ?? ''}`);
  console.log(`${id} is revoked`);
}

/** A running system leaves the URL of its database in a file of its data folder. */
export function databaseOf(config: Config): string {
  if (config.databaseUrl) return config.databaseUrl;
  const file = join(config.dataDir, 'database.url');
  if (!existsSync(file)) throw new Error(`set DATABASE_URL, or start Docket on ${config.dataDir} first`);
  return readFileSync(file, 'utf8').trim();
}
