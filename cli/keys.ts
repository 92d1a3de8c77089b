import { userInfo } from 'node:os';
import { Time } from '../contract/common.ts';
import { NewKey, needsSubject, QueuePattern, type Role } from '../contract/keys.ts';
import type { Config } from '../runtime/config.ts';
import * as adminLog from '../services/access/admin-log.ts';
import * as keys from '../services/access/keys.ts';
import { Misused } from './command.ts';
import { withStore } from './database.ts';

const MAX_LISTED = 100_000;

/** The actor for the admin log. In a container the user may have no name. */
export function called() {
  let user = `user ${process.getuid?.()}`;
  try {
    user = userInfo().username;
  } catch {}
  return { keyId: null, actor: `${user}, on the command line`, requestId: null };
}

/** `queues`: names and prefixes with `*`, by commas. */
type Options = { role: Role } & Partial<Record<'subject' | 'name' | 'queues' | 'expires' | 'callsPerSecond', string>>;

/** Makes a key and prints it. @throws Misused for options that do not fit */
export async function createKey(config: Config, options: Options): Promise<void> {
  const { role, subject = null, expires: expiresAt = null } = options;
  const queues = options.queues?.split(',') ?? null;
  if (needsSubject(role) && subject === null) throw new Misused(`a ${role} key needs --subject: who it speaks for`);
  for (const option of ['subject', 'name'] as const) {
    const given = options[option];
    const { error } = NewKey.shape[option].safeParse(given);
    if (error) throw new Misused(`--${option}: ${error.issues[0]?.message}`);
  }
  for (const given of queues ?? [])
    if (!QueuePattern.safeParse(given).success)
      throw new Misused(`--queues: ${given} is neither a name nor a prefix with *`);
  if (expiresAt !== null && !Time.safeParse(expiresAt).success)
    throw new Misused(`--expires: ${expiresAt} is not a time like 2027-01-31T00:00:00Z`);
  const callsPerSecond = options.callsPerSecond === undefined ? null : Number(options.callsPerSecond);
  if (callsPerSecond !== null && !NewKey.shape.callsPerSecond.safeParse(callsPerSecond).success)
    throw new Misused(`--calls-per-second: ${options.callsPerSecond} is not a whole number from 1 on`);
  const wanted = { name: options.name ?? subject ?? role, role, subject, queues, expiresAt, callsPerSecond };
  await withStore(config, async (db) => {
    const create = async () => ({ status: 201, ...(await keys.create({ db }, wanted)) });
    const call = { ...called(), operation: 'addKey', path: '/v1/keys', body: wanted };
    const { row, key } = await adminLog.record({ db }, call, create);
    console.log(`${key}\n\nThis is the only time the key is shown. Its id is ${row.id}.`);
  });
}

export async function listKeys(config: Config): Promise<void> {
  await withStore(config, async (db) => {
    for (const k of (await keys.list({ db }, null, MAX_LISTED)).reverse()) {
      const more = [
        k.queues && `queues ${k.queues.join(',')}`,
        k.expires_at && `expires ${k.expires_at.toISOString()}`,
        k.calls_per_second && `${k.calls_per_second} calls a second`,
        k.revoked_at && `revoked ${k.revoked_at.toISOString()}`,
      ].filter(Boolean);
      console.log([k.id, k.role, k.subject ?? '-', k.name, k.created_at.toISOString(), ...more].join('  '));
    }
  });
}

/** @throws Error when there is no such key that still counts */
export async function revokeKey(config: Config, id: string): Promise<void> {
  await withStore(config, async (db) => {
    const revoke = async () => ({ status: (await keys.revoke({ db }, id)) ? 200 : 404 });
    const call = { ...called(), operation: 'revokeKey', path: `/v1/keys/${id}`, body: undefined };
    const { status } = await adminLog.record({ db }, call, revoke);
    if (status === 404) throw new Error(`there is no live key ${id}; docket key list shows all`);
    console.log(`${id} is revoked`);
  });
}
