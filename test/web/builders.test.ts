import { expect, test } from 'vitest';
import { builtDraft, type Draft, draftOf, emptyDraft, read } from '../../web/components/form/draft.ts';
import type { BuiltField, FieldSpec } from '../../web/components/form/spec.ts';
import { queueForm } from '../../web/pages/settings/queue-form.ts';
import { en } from '../../web/texts/en.ts';

const fields = queueForm(en).flatMap((part) => part.fields);
const built = (all: readonly FieldSpec[], name: string) => all.find((field) => field.name === name) as BuiltField;
const form = built(fields, 'form');
const when = built(built(fields, 'rules').fields, 'when');

const said = (field: BuiltField, draft: Draft | string) =>
  read([field], { base: {}, values: { [field.name]: draft } }, en.form.wrong);

/** What the inputs of a value say. */
const again = (field: BuiltField, value: unknown) => {
  const draft = builtDraft(field, value);
  return draft === null ? 'JSON only' : said(field, draft).value[field.name];
};
const types = (value: unknown) =>
  ((builtDraft(form, value)?.values.fields ?? []) as Draft[]).map(({ values }) => values.type);

const WHOLE = {
  type: 'object',
  additionalProperties: false,
  required: ['note', 'verdict'],
  properties: {
    verdict: {
      title: 'Verdict',
      oneOf: [{ const: 'keep' }, { const: 'hate', title: 'Hate', 'x-guideline': 'hate', description: 'x' }],
    },
    level: { type: 'integer', enum: [1, 2, '3'] },
    reasons: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['spam'] } },
    note: { type: 'string', maxLength: 40, pattern: '^x' },
    long: { type: 'string', maxLength: 500, description: 'why' },
    days: { type: 'number', minimum: 0.5 },
    ban: { type: 'boolean' },
    until: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    deep: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } },
  },
  $defs: { a: { const: 1 } },
};

test('S4.9 a form becomes fields and the same form again; what no input says stays in it', () => {
  expect(types(WHOLE)).toEqual(['one', 'one', 'several', 'text', 'long', 'number', 'flag', 'date', 'moment', 'json']);
  expect(again(form, WHOLE)).toEqual(JSON.parse(JSON.stringify(again(form, WHOLE))) as unknown);
  expect(JSON.parse(JSON.stringify(again(form, WHOLE)))).toEqual(WHOLE);
  expect(form.kept?.(builtDraft(form, WHOLE)?.base ?? {})).toEqual(['additionalProperties', '$defs']);
  expect(again(form, null)).toBeNull();
});

test('S4.9 a form that the inputs cannot say without loss stays JSON', () => {
  const odd = [{ enum: ['a'] }, { type: 'object' }, { type: 'object', properties: {}, required: ['gone'] }, 5, 'x'];
  for (const value of [...odd, { type: 'object', properties: [] }, { required: 'x', properties: { a: {} } }])
    expect([value, builtDraft(form, value)]).toEqual([value, null]);
});

/** One row of inputs with these values. */
const filled = (of: readonly FieldSpec[], values: Draft['values']) => {
  const empty = emptyDraft(of);
  return { ...empty, values: { ...empty.values, ...values } };
};

test('S4.9 a new form is made field by field; a name that stands twice or is missing is an error at its input', () => {
  const [rows] = form.fields as [BuiltField];
  const [options] = [built(rows.fields, 'options')];
  const option = (value: string, title = '') => filled(options.fields, { const: value, title });
  const verdict = { name: 'verdict', type: 'one', required: true, options: [option('1', 'One'), option('no')] };
  const all: Draft['values'][] = [
    verdict,
    { name: 'note', type: 'text' },
    { name: 'why', type: 'long' },
    { name: 'note' },
    {},
    { name: 'short', type: 'text', maxLength: '-3' },
    { name: 'many', type: 'several', minItems: '-1', options: [option('1')] },
  ];
  const draft = (n: number): Draft => ({
    ...(builtDraft(form, null) as Draft),
    values: { fields: all.slice(0, n).map((values) => filled(rows.fields, values)) },
  });
  expect(JSON.parse(JSON.stringify(said(form, draft(3)).value.form))).toEqual({
    type: 'object',
    required: ['verdict'],
    properties: {
      verdict: { oneOf: [{ const: 1, title: 'One' }, { const: 'no' }] },
      note: { type: 'string', maxLength: 80 },
      why: { type: 'string' },
    },
  });
  expect(said(form, draft(5)).errors).toEqual([
    { path: 'form.fields.3.name', message: en.form.wrong.twice },
    { path: 'form.fields.4.name', message: en.form.wrong.required },
  ]);
  expect(said(form, draft(7)).errors.slice(2)).toEqual([
    { path: 'form.fields.5.maxLength', message: en.form.wrong.range },
    { path: 'form.fields.6.minItems', message: en.form.wrong.range },
  ]);
});

const object = (properties: object, required = Object.keys(properties)) => ({ type: 'object', properties, required });

test('S0.2 conditions become a JSON Schema over the ticket and the same conditions again', () => {
  const author = object({ country: { enum: ['de', 'at'] }, age: { type: 'number', minimum: 18 } });
  const words = { allOf: [{ type: 'string', pattern: 'a\\.b\\*' }, { not: { const: 'x' } }] };
  const body = { ...object({ author, words, gone: false }), required: ['author', 'words', 'streamer'] };
  const whole = object({ body, requires: { type: 'array', contains: { const: 'de' } }, callback: { const: null } });
  const rows = (builtDraft(when, whole)?.values.conditions ?? []) as Draft[];
  expect(rows.map(({ values: { field, op, value, values } }) => [field, op, value || values])).toEqual([
    ['body.author.country', 'oneOf', 'de\nat'],
    ['body.author.age', 'atLeast', '18'],
    ['body.words', 'contains', 'a.b*'],
    ['body.words', 'isNot', 'x'],
    ['body.gone', 'missing', ''],
    ['body.streamer', 'exists', ''],
    ['requires', 'has', 'de'],
    ['callback', 'is', 'null'],
  ]);
  expect(JSON.parse(JSON.stringify(again(when, whole)))).toEqual(whole);
  // at the top nothing needs to be said: a ticket is an object with all its fields
  const short = { properties: { body: { type: 'object', required: ['streamer'] } } };
  expect(again(when, short)).toEqual(short);
  expect(again(when, {})).toEqual({});
});

test('S0.2 conditions that the inputs cannot say without loss stay JSON', () => {
  const loose = { properties: { body: { properties: { vip: { const: true } } } } };
  const either = { anyOf: [{ required: ['body'] }] };
  const dotted = object({ body: object({ 'a.b': { const: 1 } }) });
  const range = object({ priority: { type: 'number', minimum: 1, maximum: 2 } });
  for (const value of [loose, either, dotted, range, { allOf: null }, { required: 5 }, 7])
    expect([value, builtDraft(when, value)]).toEqual([value, null]);
});

test('S0.2 a condition that is taken away leaves nothing behind', () => {
  const of = (draft: Draft | null) => said(when, { ...(draft as Draft), values: { conditions: [] } }).value.when;
  expect(of(builtDraft(when, { required: ['vip'] }))).toEqual({});
  expect(of(builtDraft(when, object({ body: object({ a: { const: 1 } }) })))).toMatchObject({});
  const rest = of(builtDraft(when, object({ body: object({ a: { const: 1 } }) }))) as Record<string, unknown>;
  expect(rest.properties).toBeUndefined();
});

test('guidelines are texts by name', () => {
  const guidelines = built(fields, 'guidelines');
  expect(again(guidelines, { hate: '# Hate\n\nline' })).toEqual({ hate: '# Hate\n\nline' });
  expect(draftOf([guidelines], { guidelines: {} }).values.guidelines).toMatchObject({ values: { texts: [] } });
});
