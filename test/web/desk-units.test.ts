import { describe, expect, test } from 'vitest';
import { hostsIn, isAllowed } from '../../web/components/body/allowed.ts';
import { imageUrl, segmentsOf } from '../../web/components/body/text.ts';
import { compose, verdictOf } from '../../web/pages/desk/form/draft.ts';
import { formOf } from '../../web/pages/desk/form/schema.ts';
import { sidesOf } from '../../web/pages/jury/sides.ts';

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

  test('an image is one by its address or by the name of its field', () => {
    expect(imageUrl('https://a.example/x.PNG?w=1', '')?.host).toBe('a.example');
    expect(imageUrl('https://a.example/x', 'avatar')?.host).toBe('a.example');
    for (const none of ['https://a.example/x', 'x.png', 'javascript:x.png', 'data:image/png;base64,AA'])
      expect(imageUrl(none, 'text')).toBeNull();
  });

  test('hosts are allowed as the policy has them', () => {
    const hosts = hostsIn(
      "default-src 'none'; img-src 'self' images.example https://*.cdn.example http://localhost:99; x y",
    );
    expect(hosts).toEqual(['images.example', 'https://*.cdn.example', 'http://localhost:99']);
    const allowed = (url: string, protocol = 'https:') => isAllowed(new URL(url), hosts, { protocol });
    expect(allowed('https://images.example/a')).toBe(true);
    expect(allowed('https://a.b.cdn.example/a')).toBe(true);
    expect(allowed('http://localhost:99/a')).toBe(true);
    expect(allowed('http://images.example/a', 'http:')).toBe(true);
    const refused = [
      'http://images.example/a',
      'https://cdn.example',
      'https://evilcdn.example',
      'https://images.example:8443/',
    ];
    for (const url of [...refused, 'https://images.example.evil.example/'])
      expect([url, allowed(url)]).toEqual([url, false]);
  });
});

describe("a queue's form", () => {
  test('schemas become fields; what has none is JSON', () => {
    const form = formOf({
      type: 'object',
      required: ['a', 'c'],
      properties: {
        a: { $ref: '#/$defs/side' },
        b: { type: ['string', 'null'], maxLength: 3, pattern: '^x' },
        c: { const: 1 },
        d: { type: 'array', items: { type: 'string' } },
        e: { oneOf: [{ const: 1, title: 'One' }, { const: null }] },
        'f/g': { type: 'object', properties: { h: { type: 'integer' } } },
      },
      $defs: { side: { enum: ['l', 'r'] } },
    });
    if (form.kind !== 'group') throw new Error(form.kind);
    expect(form.fields.map(({ kind }) => kind)).toEqual(['choice', 'text', 'fixed', 'json', 'choice', 'group']);
    expect(verdictOf(form)?.name).toBe('a');
    expect(compose(form, {})).toEqual({ value: { c: 1 }, faults: { '/a': 'required' } });
    const filled = { '/a': 1, '/b': 'xy', '/d': '["z"]', '/e': 1, '/f~1g/h': '7' };
    expect(compose(form, filled)).toEqual({
      value: { a: 'r', b: 'xy', c: 1, d: ['z'], e: null, 'f/g': { h: 7 } },
      faults: {},
    });
    const wrong = { '/a': 0, '/b': 'yyyy', '/d': '[', '/f~1g/h': '1.5' };
    expect(compose(form, wrong).faults).toEqual({ '/b': 'length', '/d': 'json', '/f~1g/h': 'integer' });
  });

  test('of several, none may be chosen, and what was chosen may be taken back', () => {
    const of = (required: string[], minItems: number) =>
      formOf({
        ...{ type: 'object', required },
        properties: { tags: { type: 'array', minItems, items: { enum: ['a', 'b'] } } },
      });
    expect(compose(of([], 1), { '/tags': [] })).toEqual({ value: {}, faults: {} });
    expect(compose(of(['tags'], 0), {})).toEqual({ value: { tags: [] }, faults: {} });
    expect(compose(of(['tags'], 1), { '/tags': [] }).faults).toEqual({ '/tags': 'required' });
  });

  test('a comma before three digits may mean two numbers, so it is none', () => {
    const form = formOf({ type: 'object', properties: { n: { type: 'number' } } });
    for (const [typed, n] of [
      ['1,5', 1.5],
      ['0,125', 0.125],
      ['1234,567', 1234.567],
    ] as const)
      expect(compose(form, { '/n': typed }).value).toEqual({ n });
    for (const typed of ['1,000', '12,500']) expect(compose(form, { '/n': typed }).faults).toEqual({ '/n': 'number' });
  });

  test('a form that is one value is one field', () => {
    expect(formOf({ enum: ['y', 'n'] }).kind).toBe('choice');
    expect(formOf({ type: 'boolean' }).kind).toBe('choice');
    expect(formOf({ anyOf: [{ type: 'string' }, { type: 'number' }] }).kind).toBe('json');
    expect(formOf({ $ref: 'https://elsewhere.example/x' }).kind).toBe('json');
  });
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
