import { readFileSync } from 'node:fs';
import type { Config } from '../runtime/config.ts';
import { databaseFailure } from '../runtime/failures.ts';
import { isDatabaseUrl } from '../runtime/setting-kinds.ts';
import { Misused, serverOf, stopSignal } from './command.ts';
import { retrying } from './exporting/target.ts';
import { follow, openOutbox } from './outbox/follow.ts';

/** `docket outbox install`: the schema `docket_outbox` in a database, made or brought up to date. @throws Misused */
export async function installOutbox(_: Config, url: string): Promise<void> {
  checkUrl(url);
  try {
    const client = await openOutbox(url);
    // several statements in one query are one transaction
    await client.query(readFileSync(new URL('outbox/outbox.sql', import.meta.url), 'utf8')).finally(() => client.end());
    const { database, user } = client;
    console.log(`docket outbox: database ${database} has the schema docket_outbox, of user ${user}. Others who add rows need
grant usage on schema docket_outbox to NAME;`);
  } catch (error) {
    throw databaseFailure(error, { url, setting: 'URL' });
  }
}

/** `docket outbox follow`: moves rows until SIGTERM or Ctrl-C, then ends the process. @throws Misused; Error */
export async function followOutbox(config: Config, url: string): Promise<void> {
  checkUrl(url);
  const signal = stopSignal();
  const say = (line: string) => console.error(`docket outbox: ${line}`);
  const server = { ...serverOf(config), key: config.key, signal };
  const retries = retrying(Number.POSITIVE_INFINITY, signal, say);
  const { added, refused } = await follow(url, server, retries, say);
  console.log(`docket outbox: ${added} rows added, ${refused} refused`);
  // connections that are kept alive would delay the end
  process.exit(0);
}

/** @throws Misused, which does not quote the value: it may hold a password */
function checkUrl(url: string): void {
  if (!isDatabaseUrl(url)) throw new Misused('URL must be one that begins with postgres://');
}
