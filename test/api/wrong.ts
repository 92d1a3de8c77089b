import type { Field } from '../support/calls.ts';

/** A value that only raw JSON text can say, or that would cost a large literal here. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const base64 = (bytes: number) => Buffer.alloc(bytes, 9).toString('base64');
const url = 'https://example.com/hook';
const secret = `whsec_${base64(32)}`;
const nested = (depth: number) => new Raw('['.repeat(depth) + ']'.repeat(depth));

/** Texts that are no times, or none that are kept. */
export const NOT_TIMES = [
  ...['soon', '2026', '2026-01-02', '2026-01-02 03:04:05Z', '2026-01-02T03:04:05', '2026-13-02T03:04:05Z'],
  ...['2026-02-30T03:04:05Z', '2026-01-02T25:04:05Z', '1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ...['+010000-01-01T00:00:00Z', '2026-01-02T03:04:05+99:00', 'infinity', 'now'],
];

/** Values that few fields take. */
export const ODD_VALUES: unknown[] = [
  ...[null, true, 0, 1, 5, -1, 0.5, 0.9, -0.001, 1e-9, 1.001, 60.1, 1001, -1001, 1e9, 1e10, 1e300],
  ...[2 ** 31, -(2 ** 31) - 1, 2 ** 32],
  ...['', ' ', '5', 'true', 'nonsense', 'a b', 'a/b', 'a,b', 'ä', '😀', '%41', 'x\n', 'a\0b', '\ud800'],
  ...[101, 201, 2001].map((length) => 'x'.repeat(length)),
  ...NOT_TIMES,
  ...['9:00', '09:60', '24:00', '09:00:00', '09-00', ' 09:00', '09:00\0', '2026-01-02T03:04:05Z\0'],
  ...['gid', 'gid_', 'uid_a b', 'UID_a', 'xid_a', 'https://example.com', '{}'],
  ...['Text', 'video', 'Once', 'daily', 'Blocking', 'All', 'none', 'Claim', 'Refuse', 'keep', 'edit'],
  ...[[], [5], [null], [''], [['a']], ['a b'], ['a'], ['a', 'a'], ['a', 5], ['a/b/c'], ['a/'], ['/a']],
  ...[101, 201].map((length) => ['ok', 'x'.repeat(length)]),
  ...[{}, { '': 1 }, { a: 'string' }, { a: {} }, { a: { type: 'date' } }, { '': { type: 'string' } }, { more: 'all' }],
  ...[{ secondsPerLevel: 0 }, { secondsPerLevel: -5 }, { secondsPerLevel: 60, more: 1 }],
  ...[{ cases: 5 }, { seconds: 5 }, { cases: 0, seconds: 5 }, { cases: 5, seconds: 0 }],
  ...[{ jurors: 5 }, { answerSeconds: 5 }, { jurors: 0, answerSeconds: 5 }, { jurors: 1, answerSeconds: 0 }],
  ...[{ agreement: 2 }, { agreement: -1 }, { agreement: 0.5, after: 0 }, { after: 5 }, { pick: 5 }],
  ...[{ queue: 'a b' }, { court: 5 }, { extendSeconds: 0 }, { court: 'a', queue: 'b' }],
  ...[{ url }, { secret }, { url: 5, secret }, { url, secret: 5 }, { url, secret, more: 1 }],
];

const typesOf = (value: unknown): string[] =>
  value === null || Array.isArray(value)
    ? [value === null ? 'null' : 'array']
    : [typeof value, typeof value === 'number' ? 'integer' : ''];

/** What the document does not allow a field: all odd values of the field's own types, and the first of each other type. */
export function wrongFor({ types, allows }: Field): unknown[] {
  const wrong = ODD_VALUES.filter((value) => !allows(value));
  const isFirst = (value: unknown) => wrong.find((other) => typesOf(other)[0] === typesOf(value)[0]) === value;
  return wrong.filter((value) => typesOf(value).some((type) => types.includes(type)) || isFirst(value));
}

const NOT_CALLBACKS = [
  ...['', 'nonsense', 'example.com', '//example.com', 'ftp://example.com', 'file:///etc/passwd', 'javascript:alert(1)'],
  ...['http://', 'http://:80', 'http://a b', 'https://user:pass@example.com/', 'http://[::1'],
  ...['http://example.com:99999', `https://example.com/${'x'.repeat(2000)}`],
]
  .map((other) => ({ url: other, secret }))
  .concat(
    [23, 65, 0, 1000].map((bytes) => ({ url, secret: `whsec_${base64(bytes)}` })),
    [base64(32), 'whsec_', 'whsec_!!!!', `WHSEC_${base64(32)}`, `${secret} `, `${secret}\0`].map((other) => ({
      ...{ url, secret: other },
    })),
  );

/** What a field does not take either, although the document's schema of it cannot say so. */
export const SENSELESS: Record<string, unknown[]> = {
  ...{ callback: NOT_CALLBACKS, invitationCallback: NOT_CALLBACKS, push: NOT_CALLBACKS },
  form: [
    ...[{ type: 'nonsense' }, { type: 5 }, { required: 'a' }, { properties: [] }, { minimum: 'x' }, { pattern: '(' }],
    ...['https://example.com/schema', '#/nowhere', '#'].map(($ref) => ({ $ref })),
    ...[{ $async: true, type: 'object' }, { properties: { a: { $async: true, type: 'string' } } }, { enum: 5 }],
    ...[{ items: { $ref: 'other.json' } }, { $schema: 'http://json-schema.org/draft-04/schema#' }],
  ],
  timezone: ['', 'nowhere', 'Europe/Nowhere', 'UTC\0'],
  strategy: [{ pick: 'best' }, { admit: '' }, { decide: 'toString' }],
};

/** What no field of any kind takes, because it cannot be kept as it was sent, or is there to do harm. */
export const HARMFUL: Record<string, unknown> = {
  'number out of range': new Raw('1e400'),
  'negative number out of range': new Raw('-1e400'),
  '2^53+1': new Raw('9007199254740993'),
  'nested 101 deep': nested(101),
  'nested 10,000 deep': nested(10_000),
  'objects nested 10,000 deep': new Raw(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
  NUL: 'a\0b',
  'NUL in a name': { 'a\0': 1 },
  'half a surrogate pair': '\ud83d',
  'the other half': [['\udc00 ']],
  'half a pair in a name': { '\ud83d': 1 },
  __proto__: new Raw('{"__proto__": {"admin": true}}'),
  '__proto__ far inside': new Raw('[{"a": [{"__proto__": null}]}]'),
};

/** JSON text of a body in which Raw values stand for themselves. */
export function textOf(body: unknown): string {
  const raws: string[] = [];
  const text = JSON.stringify(body, (_key, value: unknown) =>
    value instanceof Raw ? `\u{f0000}${raws.push(value.text) - 1}\u{f0000}` : value,
  );
  return text.replaceAll(/"\u{f0000}(\d+)\u{f0000}"/gu, (_all, n: string) => raws[Number(n)] ?? '');
}
