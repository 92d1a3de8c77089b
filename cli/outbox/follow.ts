import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, connectionTo } from '../../runtime/database.ts';
import { databaseFailure } from '../../runtime/failures.ts';
import { isUnavailable } from '../../services/shared/service.ts';
import { type Retries, Transient } from '../exporting/target.ts';
import { check, type Row, type Server, send } from './sending.ts';

/** Between two looks without a notification, and between two of `tidy`. */
const POLL_MS = 1_000;
/** Rows of a follower whose host has gone are locked for no longer. */
const GUARD = '-c idle_in_transaction_session_timeout=120000';

/** A connection to the database of an outbox. */
export async function openOutbox(url: string): Promise<Connection> {
  const settings = { query_timeout: 60_000, application_name: 'docket outbox', options: GUARD };
  const client = new Connection(connectionTo(url, settings));
  // the next statement fails on a lost connection
  client.on('error', () => {});
  await client.connect();
  return client;
}

/**
 * Moves committed rows of an outbox to Docket until the signal fires. They are deleted by the transaction that locked them
 * while they were sent: after a kill they are sent again, which changes nothing there.
 * @returns how many were added and refused
 * @throws Error with the reason, for failures that another try cannot fix
 */
export async function follow(url: string, server: Server, retries: Retries, say: (line: string) => void) {
  const { signal } = server;
  const done = { added: 0, refused: 0 };
  let after = '0';
  let tidied = 0;
  let news = new AbortController();
  signal.addEventListener('abort', () => news.abort());
  while (!signal.aborted) {
    let client: Connection | undefined;
    try {
      client = await openOutbox(url);
      await moveAll(client);
    } catch (error) {
      if (signal.aborted) break;
      const failure = databaseFailure(error, { url, setting: 'URL' });
      if (!(error instanceof Transient || isUnavailable(error))) throw failure;
      // rejected by the signal only
      await retries.wait(failure.message).catch(() => {});
    } finally {
      await client?.end().catch(() => {});
    }
  }
  return done;

  async function moveAll(client: Connection): Promise<void> {
    const { rows } = await client.query(`select from pg_class where oid = to_regclass('docket_outbox.message')`);
    if (rows.length === 0) throw new Error('URL: its database has no outbox; run docket outbox install URL first');
    client.on('notification', () => news.abort());
    client.on('error', () => news.abort());
    await client.query('listen docket_outbox');
    await check(server);
    if (tidied === 0) console.log(`docket outbox is ready: committed rows go to ${server.url}`);
    while (!signal.aborted) {
      if (after === '0') news = new AbortController();
      const found = await moveSome(client);
      if (Date.now() - tidied > POLL_MS) {
        await client.query('select docket_outbox.tidy()');
        tidied = Date.now();
      }
      if (!found) await sleep(POLL_MS, undefined, { signal: news.signal }).catch(() => {});
    }
  }

  /** @returns whether there were any after the last ones; if not, the next call begins with the first ones */
  async function moveSome(client: Connection): Promise<boolean> {
    await client.query('begin');
    const { rows } = await client.query<Row>('select * from docket_outbox.take($1)', [after]);
    const { answered, failure } = await send(server, rows);
    const refused = answered
      .filter(({ problem }) => problem)
      .map(({ row: { no, kind, id }, problem }) => ({ no, kind, id, problem }));
    const numbers = answered.map(({ row }) => row.no);
    await client.query('select docket_outbox.finish($1, $2)', [numbers, JSON.stringify(refused)]);
    await client.query('commit');
    done.added += numbers.length - refused.length;
    done.refused += refused.length;
    for (const { kind, id, problem } of refused.slice(0, 1))
      say(`refused ${refused.length}, see docket_outbox.refused; ${kind} ${id}: ${problem?.detail}`);
    after = rows.at(-1)?.no ?? '0';
    if (failure) throw failure;
    if (rows.length > 0) retries.succeeded();
    return rows.length > 0;
  }
}
