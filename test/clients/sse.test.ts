import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, SseParser } from '../../clients/typescript/src/sse.ts';

const parsed = (...parts: string[]): Block[] => {
  const parser = new SseParser();
  return parts.flatMap((part) => parser.feed(part));
};

const TEXT = [
  ['retry: 1000', ''],
  ['id: 41', ''],
  [': a sign of life', ''],
  ['id: 42', 'event: changed', 'data: {"id":"ä 😀"}', ''],
  ['event:available', 'data:one', 'data: two', 'data', 'unknown: x', ''],
  ['data: last', ''],
  ['data: not ended'],
].flat();
const BLOCKS: Block[] = [
  { id: '41', type: 'message', data: null },
  { id: '42', type: 'changed', data: '{"id":"ä 😀"}' },
  { id: undefined, type: 'available', data: 'one\ntwo\n' },
  { id: undefined, type: 'message', data: 'last' },
];

test.each(['\n', '\r\n', '\r'])(
  'S0.4 server-sent events are the same wherever they are cut (lines end with %j)',
  (end) => {
    const text = TEXT.join(end);
    expect(parsed(text)).toEqual(BLOCKS);
    expect(parsed(...text)).toEqual(BLOCKS);
    const cuts = fc.array(fc.nat({ max: text.length }), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, (at) => {
        const ends = [0, ...at.toSorted((a, b) => a - b), text.length];
        const parts = ends.slice(1).map((to, n) => text.slice(ends[n], to));
        expect(parsed(...parts)).toEqual(BLOCKS);
      }),
    );
  },
);
