import type { Client } from './client.ts';

/** What two items that must look alike are called by, and the client that must not tell them apart. */
export interface World {
  queue: string;
  person: string;
  client: Client;
  /** The item that is handed first, and its token. */
  id: string;
  token: string;
}

export type Call = ['get' | 'post' | 'put', string, object?];

/** An answer without what differs between any two items. */
export function plain(value: unknown, w: World): unknown {
  const words: [RegExp, string][] = [
    [new RegExp(w.queue, 'g'), 'queue'],
    [new RegExp(w.person, 'g'), 'person'],
    [new RegExp(w.id || '^$', 'g'), 'id'],
    [/[0-9a-z]{8}-[\w-]{12}(?![\w-])/g, 'another'],
    [/lt_[\w-]+/g, 'token'],
    [/\d{4}-\d\d-\d\dT[\d:.]+Z(_\d+)?/g, 'time'],
  ];
  const clean = (one: unknown, key: string): unknown => {
    if (key === 'requestId' || key === 'nextCursor') return 'any';
    if (typeof one === 'string') return words.reduce((text, [from, to]) => text.replace(from, to), one);
    if (Array.isArray(one)) return one.map((item) => clean(item, key));
    if (typeof one === 'object' && one !== null)
      return Object.fromEntries(Object.entries(one).map(([name, item]) => [name, clean(item, name)]));
    return typeof one === 'number' && /version|Seconds$/.test(key) && key !== 'leaseSeconds' ? 'number' : one;
  };
  return clean(value, '');
}

/** The answers of all these calls. @param isClaiming whether those that hand something out are made, too */
export async function walked(all: Record<string, (w: World) => Call[]>, w: World, isClaiming: boolean) {
  const answers: unknown[] = [];
  for (const [operation, calls] of Object.entries(all)) {
    if (!isClaiming && operation.startsWith('claim')) continue;
    for (const [method, path, sent] of calls(w)) {
      const { status, body } = await w.client[method](path, sent);
      answers.push([operation, status, plain(body, w)]);
    }
  }
  return answers;
}
