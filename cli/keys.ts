import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createKey } from '../api/auth.ts';
import { Name } from '../contract/common.ts';
import { listKeys, type Role, revokeKey } from '../db/keys.ts';
import { type Db, openDb } from '../db/pool.ts';
import type { Config } from '../runtime/config.ts';

const ROLES: Role[] = ['producer', 'reviewer', 'agent', 'consumer', 'admin'];

/** `docket key create|list|revoke`, on DATABASE_URL or on the data folder of a running `docket start`. */
export async function keyCommand(config: Config, args: string[]): Promise<void> {
  const options = { role: { type: 'string' }, subject: { type: 'string' }, name: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const db = openDb({ url: databaseOf(config), node: 'cli', max: 1 });
  try {
    if (positionals[0] === 'create') await create(db, values);
    else if (positionals[0] === 'list') await list(db);
    else if (positionals[0] === 'revoke') await revoke(db, positionals[1]);
    else throw new Error('docket key create|list|revoke');
  } finally {
    await db.end();
  }
}

async function create(db: Db, values: { role?: string; subject?: string; name?: string }): Promise<void> {
  const role = ROLES.find((r) => r === values.role);
  if (!role) throw new Error(`--role must be one of ${ROLES.join(', ')}`);
  const subject = values.subject ?? null;
  if (role === 'reviewer' && subject === null) throw new Error('a reviewer key needs --subject: who it speaks for');
  for (const given of [subject, values.name])
    if (given && !Name.safeParse(given).success) throw new Error(`${given} is not a name`);
  const { id, key } = await createKey(db, { name: values.name ?? subject ?? role, role, subject });
  console.log(`${key}\n\nThis is the only time the key is shown. Its id is ${id}.`);
}

async function list(db: Db): Promise<void> {
  for (const k of await listKeys(db)) {
    const ended = k.revoked_at ? `revoked ${k.revoked_at.toISOString()}` : '';
    console.log([k.id, k.role, k.subject ?? '-', k.name, k.created_at.toISOString(), ended].join('  ').trim());
  }
}

async function revoke(db: Db, id: string | undefined): Promise<void> {
  if (!id || !(await revokeKey(db, id))) throw new Error(`there is no live key ${id ?? ''}`);
  console.log(`${id} is revoked`);
}

/** The database of a running system is told by the file it leaves in its data folder. */
export function databaseOf(config: Config): string {
  if (config.databaseUrl) return config.databaseUrl;
  const file = join(config.dataDir, 'database.url');
  if (!existsSync(file)) throw new Error(`set DATABASE_URL, or start Docket on ${config.dataDir} first`);
  return readFileSync(file, 'utf8').trim();
}
