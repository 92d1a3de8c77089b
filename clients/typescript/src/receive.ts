import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { Case } from './cases.ts';
import { SignatureError } from './errors.ts';
import type { components } from './openapi.ts';
import type { Review } from './reviews.ts';
import type { Ticket } from './tickets.ts';

/** An occurrence of a task, with the completion that ended it. */
export interface CompletedTask {
  id: string;
  /** Its scheduled time, which names it among the task's occurrences. */
  occurrence: string;
  startTime: string;
  state: string;
  executor: string;
  params: Record<string, unknown>;
  uid: string | null;
  logId: string | null;
  result: unknown;
  completions: { uid: string; logId: string; completedAt: string }[];
  endedAt: string | null;
}

interface Items {
  ticket: Ticket;
  case: Case;
  review: Review;
  job: components['schemas']['Job'];
  task: CompletedTask;
}

/** A callback whose signature is right. */
export type ReceivedCallback = {
  [Kind in keyof Items]: {
    /** The same for each attempt to deliver it. */
    id: string;
    /** `ticket.decided`, `case.invited`, `review.changed`, `job`, `task.completed`, … */
    type: string;
    version: number;
    kind: Kind;
    itemId: string;
    /** What versions count for. */
    key: string;
    item: Items[Kind];
    /** All that was sent: `juror` of an invitation, `reason`, `result`. */
    message: Record<string, unknown>;
  };
}[keyof Items];

/** Keeps the last version that was handled, by key. */
export interface Versions {
  /** Null or 0: none was handled. */
  last(key: string): Promise<number | null> | number | null;
  keep(key: string, version: number): Promise<unknown> | unknown;
}

export interface ReceiveOptions {
  /** Of the request: as node:http has them, or a `Headers`. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** As it came, byte by byte. */
  body: string | Uint8Array;
  /** `whsec_…`; several while it is being changed. */
  secret: string | string[];
  /** Left out: in this process's memory, as long as it lives. */
  versions?: Versions;
  /** What it throws leaves the callback unhandled: it will be sent again. */
  handle(callback: ReceivedCallback): Promise<unknown> | unknown;
}

const inMemory = memoryVersions();

/**
 * Checks the signature of a callback, and handles it unless it or a newer one has been handled; one after the other for
 * each key. Answer it with 2xx, whichever it was, and with 401 and 5xx for what is thrown.
 * @throws SignatureError; TypeError for what is no callback of Docket's; what `handle` and `versions` throw
 */
export async function receive(options: ReceiveOptions): Promise<'handled' | 'repeated'> {
  const { versions = inMemory, handle } = options;
  const callback = callbackIn(verified(options), headerOf(options.headers, 'webhook-id') ?? '');
  const { key, kind, version } = callback;
  return inTurn(versions, key, async () => {
    const last = (await versions.last(key)) ?? 0;
    // each push of a job is a version of its own: one that was handled is over
    if (kind === 'job' ? last > 0 : version <= last) return 'repeated';
    await handle(callback);
    await versions.keep(key, version);
    return 'handled';
  });
}

/** Versions in memory: those of the keys that were handled last, so many at most. */
export function memoryVersions(most = 100_000): Versions {
  const kept = new Map<string, number>();
  return {
    last: (key) => kept.get(key) ?? null,
    keep(key, version) {
      kept.delete(key);
      kept.set(key, version);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
  };
}

/** @returns the body, once one of the secrets has signed it */
function verified({ headers, body, secret }: ReceiveOptions): string {
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const signed = Object.fromEntries(names.map((name) => [name, headerOf(headers, name) ?? '']));
  let failure: unknown = new TypeError('secret: at least one is needed');
  for (const one of [secret].flat()) {
    try {
      new Webhook(one).verify(text, signed, { jsonParse: false });
      return text;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      failure = new SignatureError(error.message, { cause: error });
    }
  }
  throw failure;
}

function headerOf(headers: ReceiveOptions['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(' ') : value;
}

/** @throws TypeError */
function callbackIn(text: string, id: string): ReceivedCallback {
  const message = JSON.parse(text) as Record<string, unknown> | null;
  const { type, version } = message ?? {};
  const kind = typeof type === 'string' ? (type.split('.')[0] ?? '') : '';
  const item = message?.[kind] as { id?: unknown } | undefined;
  if (typeof type !== 'string' || !Number.isInteger(version) || typeof item?.id !== 'string')
    throw new TypeError(`not a callback of Docket's: ${text.slice(0, 100)}`);
  const callback = { id, type, version, kind, itemId: item.id, item, message };
  return { ...callback, key: keyOf(callback as ReceivedCallback) } as ReceivedCallback;
}

/** Names have no slash in them, so that keys of different things differ. */
function keyOf({ kind, type, itemId, item, message }: ReceivedCallback): string {
  if (kind === 'job') return `job/${item.number}`;
  if (kind === 'task') return `task/${itemId}/${item.occurrence}`;
  return type === 'case.invited' ? `case/${itemId}/${message.juror}` : `${kind}/${itemId}`;
}

/** What is under way, by key. */
const underWay = new WeakMap<Versions, Map<string, Promise<unknown>>>();

async function inTurn<Result>(versions: Versions, key: string, work: () => Promise<Result>): Promise<Result> {
  const all = underWay.get(versions) ?? new Map<string, Promise<unknown>>();
  underWay.set(versions, all);
  const before = all.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  all.set(key, mine);
  try {
    return await mine;
  } finally {
    if (all.get(key) === mine) all.delete(key);
  }
}
