import type { Item } from '../contract/items.ts';
import { defineKind, stays, untilItsEnd, wordIn } from './kind.ts';

const words = {
  delayed: 'delayed',
  ready: 'ready',
  held: 'reserved',
  buried: 'buried',
  settled: 'finished',
  invalidated: 'deleted',
} as const;

/** beanstalkd's limit, and so the longest body that is offered over its protocol. */
export const MAX_TCP_BYTES = 65_535;

/** A job as the API shows it (S3.2). */
export function jobView(item: Item) {
  return {
    id: item.id,
    number: item.seq,
    run: item.run,
    topic: item.queue,
    state: wordIn(words, item.state),
    delay: item.delay_seconds,
    TTR: item.lease_seconds ?? 0,
    body: item.body,
    priority: item.priority,
    attempts: item.attempts,
    availableAt: item.available_at.toISOString(),
    reservedUntil: item.expires_at?.toISOString() ?? null,
    lastReason: item.end_reason,
    createdAt: item.created_at.toISOString(),
    ...(item.erased && { erased: true }),
  };
}

/** A body as bytes on beanstalkd's wire: a string as it is, `{"$base64": …}` decoded, other JSON as its text. */
export function bodyBytes(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  const base64 = base64Of(body);
  const bytes = Buffer.from(base64 ?? '', 'base64');
  // Node decodes anything: what is not base64, or not as it is written here, would arrive as other bytes
  return bytes.toString('base64') === base64 ? bytes : Buffer.from(JSON.stringify(body));
}

/** Bytes from the wire as a JSON body: a string where they are UTF-8 that JSON and the database can hold. */
export function bodyOfBytes(bytes: Buffer): string | { $base64: string } {
  const text = bytes.toString('utf8');
  const same = !text.includes('\0') && Buffer.compare(Buffer.from(text), bytes) === 0;
  return same ? text : { $base64: bytes.toString('base64') };
}

function base64Of(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const { $base64, ...rest } = body as { $base64?: unknown };
  return typeof $base64 === 'string' && Object.keys(rest).length === 0 ? $base64 : undefined;
}

/** A job may be finished or deleted in any open state, and reserved by its number. */
const ends = { finished: 'settled', deleted: 'invalidated' } as const;

/** A delayed job. */
export const job = defineKind({
  title: 'Jobs',
  words,
  lifecycle: {
    none: { created: ['ready', 'delayed'] },
    delayed: {
      available: 'ready',
      reserved: 'held',
      kicked: 'ready',
      buried: 'buried',
      ...ends,
      ...stays('delayed', 'parked', 'refused'),
    },
    ready: { reserved: 'held', buried: 'buried', ...ends, ...stays('ready', 'refused') },
    held: {
      released: ['ready', 'delayed'],
      reclaimed: 'ready',
      buried: 'buried',
      ...ends,
      ...stays('held', 'parked', 'refused'),
    },
    buried: { reserved: 'held', kicked: 'ready', ...ends, ...stays('buried', 'refused') },
    settled: { created: ['ready', 'delayed'], ...stays('settled', 'refused', 'erased') },
    invalidated: { created: ['ready', 'delayed'], ...stays('invalidated', 'refused', 'erased') },
  },
  leased: 'one',
  workflow: untilItsEnd('job'),
  signals: { cancel: 'invalidate', kick: 'kick' },
  court: false,
  clock: 'advance_items',
  exhausted: 'buried',
  overdue: 'invalidated',
  order: 'number',
  quiet: ['created', 'available', 'reserved', 'kicked'],
  frees: () => 1,
  outcome: null,
});
