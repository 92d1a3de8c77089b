import { PROBLEMS, type ProblemCode } from '../../contract/problems.ts';
import { reasonOf } from '../../runtime/failures.ts';
import { asJson, Transient } from '../exporting/target.ts';

/** A row of the outbox: its number, the item's kind, its queue, topic or court, and the item as JSON. */
export type Row = { kind: 'ticket' | 'job' | 'case'; target: string | null } & Record<'no' | 'id' | 'entry', string>;

/** What has become of rows. Those that are not in `answered` have to be sent again, because of `failure`. */
interface Sent {
  /** `problem`: why the server refused it. */
  answered: { row: Row; problem?: { code: string; status: number; detail: string } }[];
  failure?: Transient;
}

/** `setting` is the variable that holds the URL. */
export type Server = Record<'url' | 'setting', string> & { key?: string; signal: AbortSignal };
type Said = { code?: string; detail?: string; error?: string; results?: Said[] } | undefined;

const REQUEST_MS = 30_000;
const CALLS_AT_ONCE = 8;

/**
 * Adds rows to a server by its batches: one for each queue and court, and one for all jobs.
 * @throws Error where the server does not know the key
 */
export async function send(server: Server, rows: Row[]): Promise<Sent> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const place = row.kind === 'job' ? '' : `${row.kind}/${row.target}`;
    groups.set(place, [...(groups.get(place) ?? []), row]);
  }
  const sent: Sent = { answered: [] };
  const left = [...groups.values()];
  while (left.length > 0) await Promise.all(left.splice(0, CALLS_AT_ONCE).map((group) => add(server, group, sent)));
  return sent;
}

async function add(server: Server, rows: Row[], sent: Sent): Promise<void> {
  const [{ kind, target } = { kind: 'job', target: '' }] = rows;
  const entries = rows.map(({ entry }) => entry).join();
  const path = `${kind === 'case' ? 'courts' : 'queues'}/${encodeURIComponent(target ?? '')}/${kind}s/batch`;
  try {
    const { status, said } = await (kind === 'job'
      ? post(server, 'jobs', `{"command":"add","jobs":[${entries}]}`)
      : post(server, path, `{"${kind}s":[${entries}]}`));
    const results = said?.results ?? [];
    // 400: the body was cut on its way
    const problem = status === 400 ? undefined : problemOf(said);
    if (results.length !== rows.length && !problem) throw unusable(server, status, said);
    if (problem && rows.length > 1 && (kind === 'job' || status === 413)) {
      // one of them is to blame
      for (const half of [rows.splice(0, rows.length / 2), rows]) await add(server, half, sent);
      return;
    }
    rows.forEach((row, n) => {
      const refused = problem ?? problemOf(results[n]);
      if (refused || !results[n]?.code) sent.answered.push({ row, problem: refused });
      else sent.failure = unusable(server, status, results[n]);
    });
  } catch (error) {
    if (!(error instanceof Transient)) throw error;
    sent.failure = error;
  }
}

/** @throws Error where the server takes no items from the key, or has no API there: each row would be refused */
export async function check(server: Server): Promise<void> {
  const { said } = await post(server, 'jobs', '{"command":"add","jobs":[]}');
  if (said?.code === 'forbidden') throw badKey(server, said);
  if (said?.code === 'not_found' || said?.code === 'method_not_allowed')
    throw new Error(`${server.setting}: ${said.detail} at ${server.url}; correct ${server.setting}, which has no /v1`);
}

/** Undefined: it is none, or one that passes. */
function problemOf(said: Said) {
  const { status = 500, title = '' } = PROBLEMS[said?.code as ProblemCode] ?? {};
  if (status >= 500 || status === 429) return undefined;
  // jsonb takes no halves of characters, and no zeros
  const detail = (said?.detail ?? said?.error ?? title).toWellFormed().replaceAll('\0', '');
  return { code: said?.code ?? '', status, detail };
}

async function post({ url, setting, key, signal }: Server, path: string, body: string) {
  const away = (error: Error): never => {
    const reason = reasonOf(error.cause ?? error);
    throw new Transient(`${setting}: ${url} cannot be reached (${reason}); start Docket there, or correct ${setting}`);
  };
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const until = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
  const request = { method: 'POST', headers, body, signal: until, redirect: 'error' } as const;
  const response = await fetch(`${url}/v1/${path}`, request).catch(away);
  const text = await response.text().catch(away);
  // of a proxy, which says it in words of its own
  const said = response.status === 413 ? { code: 'payload_too_large' } : (asJson(text) as Said);
  if (said?.code === 'unauthenticated') throw badKey({ url }, said);
  return { status: response.status, said };
}

const badKey = ({ url }: Pick<Server, 'url'>, said: Said) => {
  const todo = 'set it to one that may add: docket key create --role producer';
  return new Error(`DOCKET_KEY: ${url} answers "${said?.detail ?? said?.error}"; ${todo}`);
};

const unusable = ({ url }: Server, status: number, said: Said) =>
  new Transient(`${url} answered ${status}: ${said?.detail ?? said?.error ?? 'it is no Docket server'}`);
