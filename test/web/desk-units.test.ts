import { describe, expect, test } from 'vitest';
import { hostsIn, isAllowed } from '../../web/components/body/hosts.ts';
import { cutter, mediaOf, segmentsOf } from '../../web/components/body/text.ts';
import { AT_REST, framedBy, playedBy } from '../../web/components/body/viewing.ts';
import { type Draft, emptyDraft, read } from '../../web/components/form/draft.ts';
import { toneOf } from '../../web/components/tones.ts';
import { formOf, verdictOf, wordsOf } from '../../web/pages/desk/schema.ts';
import { sidesOf } from '../../web/pages/jury/sides.ts';
import { en } from '../../web/texts/en.ts';

describe('texts of a body', () => {
  const kinds = (text: string) =>
    segmentsOf(text).map((one) => (one.kind === 'marks' ? `${one.code}×${one.times}` : one.text));

  test('only http and https are addresses, without what ends the sentence', () => {
    expect(kinds('See https://a.example/x?y=1. Or javascript:alert(1)!')).toEqual([
      ...['See ', 'https://a.example/x?y=1', '. Or javascript:alert(1)!'],
    ]);
    expect(segmentsOf('请看 https://a.example/好，谢谢').filter(({ kind }) => kind === 'link')).toHaveLength(1);
    expect(segmentsOf('http://').map(({ kind }) => kind)).toEqual(['text']);
  });

  test('characters that turn or hide text are named, those that scripts and emoji need are left', () => {
    expect(kinds('a\u202Eb\u200B\u200Bc')).toEqual(['a', 'U+202E×1', 'b', 'U+200B×2', 'c']);
    expect(kinds('👩‍👧 line\none\ttwo')).toEqual(['👩‍👧 line\none\ttwo']);
    expect(kinds('https://a.example/\u202Egnp')).toEqual(['https://a.example/', 'U+202E×1', 'gnp']);
  });

  test('an image, a video and a sound are known by their addresses, their types or the names of their fields', () => {
    const kinds = ['https://a.example/x.PNG?w=1', 'https://a.example/x.mp4', 'https://a.example/x.ogg'];
    expect(kinds.map((url) => mediaOf(url, '')?.kind)).toEqual(['image', 'video', 'audio']);
    expect(['avatar', '视频', 'voice note'].map((name) => mediaOf('https://a.example/x', name)?.kind)).toEqual([
      ...['image', 'video', 'audio'],
    ]);
    expect(mediaOf('https://a.example/x.mp4', 'cover image')?.kind).toBe('video');
    for (const none of ['https://a.example/x', 'x.png', 'javascript:x.png', 'data:text/html,x', 'data:image/png'])
      expect(mediaOf(none, 'text')).toBeNull();
    const inline = ['data:image/png;base64,AA', 'data:video/webm;codecs=vp8;base64,AA', 'data:audio/ogg,x'];
    expect(inline.map((url) => mediaOf(url, 'text')?.kind)).toEqual(['image', 'video', 'audio']);
  });

  test('what someone looks for is marked in any case, whatever characters it has', () => {
    expect(cutter('spam', [])('Spam, spam (c)')).toEqual(['', 'Spam', ', ', 'spam', ' (c)']);
    expect(cutter('(c)', [])('a (c) b')).toEqual(['a ', '(c)', ' b']);
    expect(cutter('违规', [])('图片违规')).toEqual(['图片', '违规', '']);
    expect(cutter('', [])('as it is')).toEqual(['as it is']);
  });

  test('hosts are allowed as the policy has them', () => {
    const hosts = hostsIn(
      "default-src 'none'; img-src 'self' data: images.example https://*.cdn.example http://localhost:99; x y",
    );
    expect(hosts).toEqual(['images.example', 'https://*.cdn.example', 'http://localhost:99']);
    const allowed = (url: string, protocol = 'https:') => isAllowed(new URL(url), hosts, { protocol });
    expect(allowed('https://images.example/a')).toBe(true);
    expect(allowed('https://a.b.cdn.example/a')).toBe(true);
    expect(allowed('http://localhost:99/a')).toBe(true);
    expect(allowed('http://images.example/a', 'http:')).toBe(true);
    expect(allowed('data:image/png;base64,AA')).toBe(true);
    const foreign = ['http://images.example/a', 'https://images.example:8443/', 'https://images.example.evil.example/'];
    for (const url of [...foreign, 'https://cdn.example', 'https://evilcdn.example'])
      expect([url, allowed(url)]).toEqual([url, false]);
  });
});

describe("a queue's form", () => {
  const fieldsOf = (schema: object) => formOf(schema, en).fields;
  const kindsOf = (schema: object) => fieldsOf(schema).map(({ kind }) => kind);
  /** The decision of these inputs, or what is wrong in them by path. */
  const decision = (schema: object, filled: Draft['values']) => {
    const { fields, decisionIn } = formOf(schema, en);
    const draft = emptyDraft(fields);
    const { value, errors } = read(fields, { ...draft, values: { ...draft.values, ...filled } }, en.form.wrong);
    const wrong = Object.fromEntries(errors.map(({ path, message }) => [path, message]));
    return errors.length > 0 ? { wrong } : decisionIn(value);
  };
  const { required, number, integer, length, range, pattern, json } = en.form.wrong;

  const schema = {
    type: 'object',
    required: ['a', 'c'],
    properties: {
      a: { $ref: '#/$defs/side' },
      b: { type: ['string', 'null'], maxLength: 3, pattern: '^x' },
      c: { const: 1 },
      d: { type: 'array', items: { type: 'string' } },
      e: { oneOf: [{ const: 1, title: 'One' }, { const: null }] },
      'f/g': { type: 'object', properties: { h: { type: 'integer', minimum: 1 } } },
    },
    $defs: { side: { enum: ['l', 'r'] } },
  };

  test('schemas become fields; what has none is JSON', () => {
    expect(kindsOf(schema)).toEqual(['one', 'text', 'fixed', 'json', 'one', 'object']);
    expect(fieldsOf(schema).map(({ said: [label] }) => label)).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f/g'].map((name) => ('ac'.includes(name) ? name : `${name} (optional)`)),
    );
    expect(verdictOf(fieldsOf(schema))?.name).toBe('a');
    expect(decision(schema, {})).toEqual({ wrong: { a: required } });
    expect(decision(schema, { a: '"l"' })).toEqual({ a: 'l', c: 1 });
    const inner = (h: string) => ({ base: {}, values: { h } });
    const filled = { a: '"r"', b: 'xy', d: '["z"]', e: 'null', 'f/g': inner('7') };
    expect(decision(schema, filled)).toEqual({ a: 'r', b: 'xy', c: 1, d: ['z'], e: null, 'f/g': { h: 7 } });
    const wrong = { a: '"l"', b: 'yyyy', d: '[', 'f/g': inner('1.5') };
    expect(decision(schema, wrong)).toEqual({ wrong: { b: length, d: json, 'f/g.h': integer } });
    expect(decision(schema, { ...filled, b: 'y', 'f/g': inner('0') })).toEqual({
      wrong: { b: pattern, 'f/g.h': range },
    });
  });

  test('a day and a moment are chosen, and go as the API has them', () => {
    const [day, moment] = ['date', 'date-time'].map((format) => ({ type: 'string', format }));
    const form = { type: 'object', properties: { day, moment } };
    expect(kindsOf(form)).toEqual(['date', 'moment']);
    const at = new Date(2026, 0, 5, 12, 30).toISOString();
    expect(decision(form, { day: '2026-01-05', moment: '2026-01-05T12:30' })).toEqual({
      day: '2026-01-05',
      moment: at,
    });
  });

  test('of several, none may be chosen, and what was chosen may be taken back', () => {
    const of = (names: string[], minItems: number) => ({
      ...{ type: 'object', required: names },
      properties: { tags: { type: 'array', minItems, items: { enum: ['a', 'b'] } } },
    });
    expect(decision(of([], 1), { tags: '' })).toEqual({});
    expect(decision(of(['tags'], 0), {})).toEqual({ tags: [] });
    expect(decision(of(['tags'], 1), { tags: '' })).toEqual({ wrong: { tags: required } });
    expect(decision(of(['tags'], 1), { tags: '"a"\n"b"' })).toEqual({ tags: ['a', 'b'] });
  });

  test('a draft fits a form that has changed since it was begun', () => {
    const changed = {
      ...{ type: 'object', required: ['a', 'ban'] },
      properties: { a: { enum: [1, 2] }, ban: { type: 'object', properties: { days: { type: 'number' } } } },
    };
    expect(decision(changed, { a: 'typed before', ban: 'as well' })).toEqual({ wrong: { a: required } });
    expect(decision(changed, { a: '2', gone: 'x' })).toEqual({ a: 2, ban: {} });
  });

  test('a comma before three digits may mean two numbers, so it is none', () => {
    const form = { type: 'object', properties: { n: { type: 'number' } } };
    for (const [typed, n] of Object.entries({ '1,5': 1.5, '0,125': 0.125, '1234,567': 1234.567 }))
      expect(decision(form, { n: typed })).toEqual({ n });
    for (const typed of ['1,000', '12,500', '0x10', '0b1', '1e3', 'Infinity', '-', '5.'])
      expect(decision(form, { n: typed })).toEqual({ wrong: { n: number } });
  });

  test('a form that is one value is one field', () => {
    expect(kindsOf({ enum: ['y', 'n'] })).toEqual(['one']);
    expect(kindsOf({ type: 'boolean' })).toEqual(['one']);
    expect(kindsOf({ anyOf: [{ type: 'string' }, { type: 'number' }] })).toEqual(['json']);
    expect(kindsOf({ $ref: 'https://elsewhere.example/x' })).toEqual(['json']);
    expect(decision({ type: 'boolean' }, { '': 'false' })).toBe(false);
  });
});

test('S0.8 keys of images: one to the next, larger and smaller, turned, moved, and back as it was', () => {
  const first = { ...AT_REST, n: 0 };
  const after = (...keys: string[]) => keys.reduce((view, key) => framedBy(key, view, 3) ?? view, first);
  expect(after('+', 'ArrowLeft')).toEqual({ ...AT_REST, n: 2 });
  expect(after('ArrowRight', 'r', 'r').turn).toBe(180);
  expect(after('+', '+', '-').zoom).toBeCloseTo(1.25);
  expect(after(...Array.from({ length: 40 }, () => '+')).zoom).toBe(16);
  expect(after('ArrowUp', 'd')).toMatchObject({ x: -60, y: 60 });
  expect(after('ArrowUp', 'd', '0')).toEqual(first);
  expect(framedBy('x', first, 3)).toBeNull();
});

test('S0.8 keys of a video: play, seek, frames, speed', () => {
  const at = { paused: true, currentTime: 2, playbackRate: 1 };
  expect(playedBy('p', at)).toEqual({ paused: false });
  expect(playedBy('j', at)).toEqual({ currentTime: 0 });
  expect(playedBy('l', at)).toEqual({ currentTime: 7 });
  expect(playedBy('.', { ...at, paused: false })).toEqual({ paused: true, currentTime: 2.04 });
  expect(playedBy('>', at)).toEqual({ playbackRate: 1.5 });
  expect(playedBy('<', { ...at, playbackRate: 0.25 })).toEqual({ playbackRate: 0.25 });
  expect(playedBy('1', at)).toBeNull();
});

test('a decision reads as its form says it, and a verdict looks as what it does', () => {
  const schema = {
    ...{ type: 'object', required: ['verdict'] },
    properties: {
      verdict: { oneOf: [{ const: 'no', title: 'Reject' }] },
      tags: { type: 'array', items: { enum: ['spam', 'scam'] } },
      deep: { type: 'object', properties: { days: { type: 'number' } } },
      note: { type: 'string' },
    },
  };
  const decision = { verdict: 'no', tags: ['scam'], deep: { days: 3 }, note: 'again' };
  expect(wordsOf(formOf(schema, en), decision)).toBe('Reject · scam · days: 3 · note: again');
  expect(wordsOf(formOf({ type: 'boolean' }, en), true)).toBe('Yes');
  expect(wordsOf(formOf(schema, en), { other: 1 })).toBe('other: 1');
  expect([['a', 1], 'keep', null, {}].map((one) => wordsOf(formOf(schema, en), one))).toEqual([
    '["a",1]',
    'keep',
    'null',
    '{}',
  ]);
  const options = [
    ['{"verdict":"approve"}', 'In order'],
    ['"x"', '拒绝'],
    ['"keep"', 'keep'],
    ['1', 'Severe'],
  ] as const;
  expect(options.map(toneOf)).toEqual(['good', 'bad', 'good', 'open']);
});

test('both sides of a case are found by the options of its court, or as a list', () => {
  const options = ['buyer', 'seller'];
  expect(sidesOf({ buyer: 'b', seller: 's', order: 1 }, options)).toEqual({
    sides: [
      { name: 'buyer', value: 'b' },
      { name: 'seller', value: 's' },
    ],
    rest: { order: 1 },
  });
  expect(sidesOf({ statements: [{ side: 'A', text: 'a' }, { text: 'b' }] }, options).sides).toEqual([
    { name: 'A', value: { text: 'a' } },
    { name: '2', value: { text: 'b' } },
  ]);
  expect(sidesOf('text', options)).toEqual({ sides: [], rest: 'text' });
  expect(sidesOf({ buyer: 'alone' }, options)).toEqual({ sides: [], rest: { buyer: 'alone' } });
});
