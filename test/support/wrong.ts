import type { FieldKind } from './sample-bodies.ts';

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

const NOT_TEXT = [5, true, [], {}];
const NOT_NUMBERS = ['5', '', true, [], {}, new Raw('1e400'), new Raw('-1e400'), new Raw('9007199254740993')];
const NOT_NAMES = [
  ...NOT_TEXT,
  '',
  ' ',
  'a b',
  'a/b',
  'a,b',
  'ä',
  '😀',
  '%41',
  'x'.repeat(201),
  'x\n',
  'a\0b',
  '\ud800',
];
const NOT_COUNTS = [...NOT_NUMBERS, -1, 0.5, 1e9];
const NOT_NAME_LISTS = ['a', 5, {}, true, [5], [null], [''], [['a']], ['a b'], ['ok', 'x'.repeat(201)], ['a\0']];
const NOT_TIMES = [
  ...['', 'soon', '2026', '2026-01-02', '2026-01-02 03:04:05Z', '2026-01-02T03:04:05', '2026-13-02T03:04:05Z'],
  ...[
    '2026-02-30T03:04:05Z',
    '2026-01-02T25:04:05Z',
    '1969-12-31T23:59:59Z',
    '9999-12-31T23:59:59Z',
    '+010000-01-01T00:00:00Z',
  ],
  ...['2026-01-02T03:04:05+99:00', 5, true, {}, [], 'infinity', 'now', '2026-01-02T03:04:05Z\0'],
];
const NOT_CALLBACKS = [
  ...[
    'https://example.com',
    5,
    true,
    [],
    {},
    { url },
    { secret },
    { url: 5, secret },
    { url, secret: 5 },
    { url, secret, more: 1 },
  ],
  ...[
    '',
    'nonsense',
    'example.com',
    '//example.com',
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ].map((u) => ({ url: u, secret })),
  ...[
    'http://',
    'http://:80',
    'http://a b',
    'https://user:pass@example.com/',
    'http://[::1',
    'http://example.com:99999',
  ].map((u) => ({ url: u, secret })),
  { url: `https://example.com/${'x'.repeat(2000)}`, secret },
  ...[23, 65, 0, 1000].map((bytes) => ({ url, secret: `whsec_${base64(bytes)}` })),
  ...[base64(32), 'whsec_', 'whsec_!!!!', `WHSEC_${base64(32)}`, `whsec_${base64(32)} `, `whsec_${base64(32)}\0`].map(
    (s) => ({ url, secret: s }),
  ),
];
const NOT_FORMS = [
  ...[
    '{}',
    5,
    true,
    [],
    { type: 'nonsense' },
    { type: 5 },
    { required: 'a' },
    { properties: [] },
    { minimum: 'x' },
    { pattern: '(' },
  ],
  ...[
    { $ref: 'https://example.com/schema' },
    { $ref: '#/nowhere' },
    { $ref: '#' },
    { $async: true, type: 'object' },
    { enum: 5 },
  ],
  ...[
    { $schema: 'http://json-schema.org/draft-04/schema#' },
    { properties: { a: { $async: true, type: 'string' } } },
    { items: { $ref: 'other.json' } },
  ],
];

/** Values that a field of a kind must refuse. `json` takes everything that can be kept as it was sent. */
export const WRONG: Record<FieldKind, unknown[]> = {
  name: NOT_NAMES,
  names: NOT_NAME_LISTS,
  requires: [...NOT_NAME_LISTS, new Raw(JSON.stringify(Array.from({ length: 10_001 }, (_, n) => `n${n}`)))],
  priority: [...NOT_NUMBERS, 0.5, 1001, -1001, 1e300],
  seconds: [...NOT_NUMBERS, -1, -0.001, 1e10, 1e300],
  positiveSeconds: [...NOT_NUMBERS, 0, -1, 1e-9, 1e10],
  waitSeconds: [...NOT_NUMBERS, -1, 60.1, 1e9],
  wholeSeconds: [...NOT_NUMBERS, 0, 0.9, -1, 1e10],
  timezone: [...NOT_TEXT, '', 'nowhere', 'Europe/Nowhere', 'x'.repeat(101), 'UTC\0'],
  jobPriority: [...NOT_NUMBERS, -1, 0.5, 2 ** 32],
  status: [...NOT_NUMBERS, 0.5, 2 ** 31, -(2 ** 31) - 1],
  auditKind: [...NOT_TEXT, '', 'video', 'Text', 'edit'],
  pictureKind: [...NOT_TEXT, '', 'text', 'reply'],
  time: NOT_TIMES,
  flag: ['true', 'false', '', 0, 1, [], {}],
  count: NOT_COUNTS,
  positiveCount: [...NOT_COUNTS, 0],
  callback: NOT_CALLBACKS,
  object: ['', 5, true, [], {}, { secondsPerLevel: 0 }, { secondsPerLevel: -5 }, { secondsPerLevel: 60, more: 1 }],
  list: ['', 5, true, {}, new Raw(`[${'5,'.repeat(60_000)}5]`)],
  form: NOT_FORMS,
  token: [...NOT_TEXT, '', 'x'.repeat(201), 'a\0b', '\ud800'],
  reason: [...NOT_TEXT, '', 'x'.repeat(2001), 'a\0b', '\udfff'],
  text: [...NOT_TEXT, 'x'.repeat(2001), 'a\0b', '\ud800x'],
  share: [...NOT_NUMBERS, -0.001, 1.001],
  option: [...NOT_TEXT, '', 'x'.repeat(101), 'a\0b', '\ud800'],
  options: [...NOT_TEXT, 'buyer', ['buyer'], ['a', 'a'], ['a', ''], ['a', 5], ['a', 'x'.repeat(101)], ['a', 'b\0']],
  window: ['', 5, true, [], {}, { cases: 5 }, { seconds: 5 }, { cases: 0, seconds: 5 }, { cases: 5, seconds: 0 }],
  assign: [
    '',
    5,
    true,
    [],
    {},
    { jurors: 5 },
    { answerSeconds: 5 },
    { jurors: 0, answerSeconds: 5 },
    { jurors: 1, answerSeconds: 0 },
  ],
  strategy: [
    ...['', 5, true, []],
    ...[{ pick: 'best' }, { admit: '' }, { decide: 'toString' }, { pick: 5 }, { more: 'all' }],
  ],
  quality: ['', 5, true, [], {}, { agreement: 2 }, { agreement: -1 }, { agreement: 0.5, after: 0 }, { after: 5 }],
  fallback: ['', 5, true, [], {}, { queue: 'a b' }, { court: 5 }, { extendSeconds: 0 }, { court: 'a', queue: 'b' }],
  courtMode: [...NOT_TEXT, '', 'Claim', 'none'],
  lateVotes: [...NOT_TEXT, '', 'keep', 'Refuse'],
  taskType: [...NOT_TEXT, '', 'Once', 'daily'],
  executor: [...NOT_NAMES, 'ann', 'gid', 'gid_', 'uid_a b', 'UID_a', 'xid_a'],
  dailyTime: [...NOT_TEXT, '', '9:00', '09:60', '24:00', '09:00:00', '09-00', ' 09:00', '09:00\0'],
  dispatch: [...NOT_TEXT, '', 'once', 'Blocking'],
  catchUp: [...NOT_TEXT, '', 'none', 'All'],
  templateParams: ['', 5, true, [], { a: 'string' }, { a: {} }, { a: { type: 'date' } }, { '': { type: 'string' } }],
  params: ['', 5, true, [], { '': 1 }],
  exclude: ['a', 5, {}, true, [5], [''], ['a b'], ['a/b/c'], ['a/'], ['/a'], ['x'.repeat(201)], ['a\0']],
  json: [],
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
