import type { IncomingMessage } from 'node:http';
import { SMALL_BODY } from '../contract/common.ts';
import { Problem } from '../services/shared/service.ts';
import type { Api } from './api.ts';
import type { Transfer } from './transfers.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const JSON_TYPE = /^application\/(.+\+)?json\s*(;|$)/i;
/** What programs send where nobody sets a type, such as PHP's curl. */
const UNSET_TYPE = /^($|(text\/plain|application\/x-www-form-urlencoded)\s*(;|$))/i;

/** Seconds in which a body must arrive: a small one, and a large one. */
const SMALL_SECONDS = 10;
const LARGE_SECONDS = 60;

/** A call whose body is read, and whom it is counted for. */
export interface Sender {
  api: Api;
  incoming: IncomingMessage;
  /** A key's id, or `STRANGERS`. */
  caller: string;
}

/** A parsed body and its size; `value` is undefined where there was none. */
export interface Sent {
  value: unknown;
  bytes: number;
}

/**
 * Reads a JSON body. Rejects bytes that are no UTF-8; values that cannot be stored as sent are left to `checkValues`.
 * @param limit bytes
 * @param anyType whether the content type may be missing, or one that programs send for it
 */
export async function readJson(sender: Sender, limit: number, anyType = false): Promise<Sent> {
  const { incoming } = sender;
  const bytes = await readBytes(sender, limit);
  if (bytes.length === 0) return { value: undefined, bytes: 0 };
  const type = incoming.headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type) && !(anyType && UNSET_TYPE.test(type)))
    throw new Problem('unsupported_media_type', 'send the body as application/json');
  try {
    return { value: JSON.parse(decoder.decode(bytes)), bytes: bytes.length };
  } catch {
    throw new Problem('invalid_request', 'the body is not valid JSON in UTF-8', {
      status: 400,
      errors: [{ path: '', message: 'is not valid JSON in UTF-8' }],
    });
  }
}

/**
 * Reads the bytes of a body from the connection. Hono's `Request` would copy them, and use a web stream where there is no length.
 * A call whose body has yet to arrive is no load.
 * @throws Problem `payload_too_large`; `invalid_request` when the connection or the time ends before the body does;
 * `rate_limited` when too many bodies of this caller are on their way
 */
export async function readBytes({ api, incoming, caller }: Sender, limit: number): Promise<Buffer> {
  if (incoming.complete) return collect(incoming, limit);
  const seconds = limit > SMALL_BODY ? LARGE_SECONDS : SMALL_SECONDS;
  const over = new AbortController();
  const transfer = api.transfers.begin(caller, seconds, (why) =>
    over.abort(
      why === 'late'
        ? cutOff(`the body did not arrive within ${seconds} seconds`)
        : new Problem('rate_limited', 'too many bodies of this caller are on their way', { retryAfter: 1 }),
    ),
  );
  try {
    return await api.ctx.load.resting(() => collect(incoming, limit, { transfer, signal: over.signal }));
  } finally {
    transfer.end();
  }
}

const cutOff = (detail: string) => {
  const errors = [{ path: '', message: 'was cut off' }];
  return new Problem('invalid_request', detail, { status: 400, errors });
};

function collect(
  incoming: IncomingMessage,
  limit: number,
  arriving?: { transfer: Transfer; signal: AbortSignal },
): Promise<Buffer> {
  const tooLarge = () => new Problem('payload_too_large', `the body may have ${limit} bytes at most`);
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers['content-length'] ?? 0) > limit) return reject(tooLarge());
    let chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      if (arriving?.signal.aborted) return;
      size += chunk.length;
      if (size > limit) return reject(tooLarge());
      chunks.push(chunk);
      arriving?.transfer.add(chunk.length);
    });
    incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const broken = () => {
      if (!incoming.readableEnded) reject(cutOff('the connection ended before the body did'));
    };
    incoming.on('error', broken);
    incoming.on('close', broken);
    if (incoming.destroyed) broken();
    arriving?.signal.addEventListener('abort', () => {
      chunks = [];
      reject(arriving.signal.reason);
    });
  });
}
