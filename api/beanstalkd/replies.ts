import type { Item } from '../../contract/items.ts';
import { bodyBytes } from '../../domain/jobs.ts';
import { CRLF } from './protocol.ts';

export type Reply = string | Buffer;

export const NOT_FOUND = 'NOT_FOUND\r\n';
export const TIMED_OUT = 'TIMED_OUT\r\n';
export const DEADLINE_SOON = 'DEADLINE_SOON\r\n';
export const INTERNAL_ERROR = 'INTERNAL_ERROR\r\n';

/** A job with its body, in one piece so that it is one write. */
export function jobReply(word: 'RESERVED' | 'FOUND', item: Pick<Item, 'seq' | 'body'>): Buffer {
  const body = bodyBytes(item.body);
  return Buffer.concat([Buffer.from(`${word} ${item.seq} ${body.length}${CRLF}`), body, Buffer.from(CRLF)]);
}

/** A YAML document of keys and values; `list` is the other form that beanstalkd has. */
export function dictionary(entries: [key: string, value: string | number][]): string {
  return document(entries.map(([key, value]) => `${key}: ${value}\n`));
}

export const list = (names: string[]) => document(names.map((name) => `- ${name}\n`));

/** A JSON string is a YAML string too, whatever the text. */
export const quoted = (text: string) => JSON.stringify(text);

function document(lines: string[]): string {
  const yaml = `---\n${lines.join('')}`;
  return `OK ${Buffer.byteLength(yaml)}${CRLF}${yaml}${CRLF}`;
}
