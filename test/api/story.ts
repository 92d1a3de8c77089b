import { expect } from 'vitest';
import { type Client, eventually, type Json, type Reply } from '../support/client.ts';

const token = (end: string) => `lt_0mi8z5w2o${end.padEnd(22, 'Q7xTb2nVd9Lr4sKe1yHc0A')}`;

/** Names that a server makes up, as api/document/examples.json has them. */
const MADE = {
  ...{ report17: token('report17'), report18: token('report18'), report19: token('report19') },
  look: 'mgz3k0p4-5Yf2Vt9QxLrB',
  caseLook: 'mgz3k0p5-8Kd1Wm4RzTqC',
  ...{ order2: token('order2'), order3: token('order3'), order3Again: token('order3again') },
  ...{ carla: token('carla'), david: token('david'), greta: token('greta'), emil: token('emil') },
  frida: token('frida'),
  erasure: 'mi8z5w2o-Q7xTb2nVd9Lr',
  keyId: '9f3c1a7be204',
  key: 'docket_9f3c1a7be204_Zk1uT3xQm8rVb5cLy2pWd7sNf0hJg4aEi6oKtUvXzMw',
  streamTicket: 'st_Qe7wRt1yUi4oPa9sDf2gHj6kLz0xCv3bNm8QwErTyUi',
};

/** When the story happens. */
const NOW = '2026-11-21T09:30:00.000Z';
/** The receiver of its callbacks. */
const RECEIVER = 'https://platform.example';

/** A part of the story that the OpenAPI document's examples tell: one call as the document shows it. */
export interface Step {
  operation: string;
  /** The name of the example, where the body has several. */
  body?: string;
  /** What has to be there and is no example. */
  before?: (client: Client, made: Made, isReal: boolean) => Promise<unknown>;
  /** What the server made up in its answer. */
  made?: (answer: Json) => Made;
  /** The call is repeated until its answer is so; `isReal`: outcomes are delivered. */
  until?: (answer: Json, isReal: boolean) => boolean;
  /** What the call as it stands in the document is answered with, because the server makes up other names. */
  refused?: { status: number; code: string };
  /** On a server that asks for no key there is nothing else to be had. */
  needsKeys?: true;
  /** The answer never ends. */
  isEndless?: true;
}

/** The real ones of what the document makes up. */
export type Made = Partial<Record<keyof typeof MADE, string>>;

interface Call {
  method: string;
  path: string;
  body?: unknown;
}

const FIVE_MINUTES = 300_000;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** The next five of its schedule. */
const FIRINGS = [22, 23, 24, 25, 26].map((day) => `2026-11-${day}T05:00:00.000Z`);
/** What is another one each time: a number of these fields is shown as this one. */
const VOLATILE: Record<string, unknown> = {
  oldestWaitingSeconds: 12.5,
  oldestReadySeconds: 3.2,
  meanSecondsToDecide: 30,
  retryAfterSeconds: 0,
  claimsPerMinute: 3,
  popsPerMinute: 3,
  secondsMedian: 24.5,
};

/** Plays the story on a server. */
export class Story {
  readonly #client: Client;
  readonly #document: Json;
  readonly #start: number;
  readonly made: Made = {};
  /** The answers, by operation and status, and by the name of the example where there are several. */
  readonly answers: Record<string, Record<string, unknown>> = {};

  /**
   * @param document the OpenAPI document as it is served
   * @param start when the story begins here, for what happens before and after it
   */
  constructor(client: Client, document: Json, start: number) {
    this.#client = client;
    this.#document = document;
    this.#start = start;
  }

  /** As a page to try the API out fills it in: examples, else defaults. */
  prefilled(step: Step): Call {
    const { path, method, operation } = operationOf(this.#document, step.operation);
    const query = new URLSearchParams();
    let filled = path;
    for (const { in: where, name, example, schema } of operation.parameters ?? []) {
      const value = example ?? schema.example ?? schema.default;
      if (where === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
      else if (where === 'query' && value !== undefined) query.set(name, String(value));
    }
    const media = operation.requestBody?.content['application/json'];
    const shown = step.body ? media?.examples?.[step.body]?.value : media?.example;
    const search = query.size > 0 ? `?${query}` : '';
    return { method: method.toUpperCase(), path: filled + search, ...(media && { body: shown }) };
  }

  /** Whether a call names what the server makes up. */
  namesMade(call: Call): boolean {
    const text = JSON.stringify(call);
    return Object.values(MADE).some((name) => text.includes(name));
  }

  /** The call with the real names in place of those that the document makes up. */
  withMade(call: Call): Call {
    const names = this.#names().map(([real, name]) => [name, real] as const);
    return replaced(call, names);
  }

  /** The call as it is here and now: its receiver is there, and it happens today. */
  real(call: Call, receiver: string): Call {
    const offset = this.#start - Date.parse(NOW);
    const text = JSON.stringify(this.withMade(call)).replaceAll(RECEIVER, receiver);
    const shifted = (time: string) => new Date(Date.parse(decodeURIComponent(time)) + offset).toISOString();
    const encoded = /\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d\.\d{3}Z/g;
    return JSON.parse(text.replace(TIME, shifted).replace(encoded, (time) => encodeURIComponent(shifted(time))));
  }

  async send({ method, path, body }: Call, { until = () => true, isEndless }: Step, isReal: boolean): Promise<Reply> {
    if (isEndless) return this.#begin(path);
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    let last: Reply | undefined;
    await eventually(async () => {
      last = await this.#client.raw(method, path, init);
      return last.status >= 400 || until(last.body, isReal);
    });
    return last as unknown as Reply;
  }

  /** Only the beginning of what never ends. */
  async #begin(path: string): Promise<Reply> {
    const ended = new AbortController();
    const headers: Record<string, string> = this.#client.key ? { authorization: `Bearer ${this.#client.key}` } : {};
    const response = await fetch(this.#client.url + path, { headers, signal: ended.signal });
    const first = await response.body?.getReader().read();
    ended.abort();
    return { status: response.status, headers: response.headers, body: new TextDecoder().decode(first?.value) };
  }

  learn({ made }: Step, { body }: Reply): void {
    Object.assign(this.made, made?.(body) ?? {});
  }

  /** Keeps the first answer of its kind, with the names of now: a ticket that is claimed again has another token. */
  record({ operation, body: name }: Step, reply: Reply): void {
    const { status } = reply;
    if (status === 204) return;
    const body = replaced(reply.body, this.#names());
    this.answers[operation] ??= {};
    const answers = this.answers[operation];
    if (name === undefined) answers[status] ??= body;
    else {
      answers[status] ??= {};
      const named = answers[status] as Record<string, unknown>;
      named[name] ??= body;
    }
  }

  /** The answers as the document shows them: what is another one each time is made the same. */
  shown(receiver: string): Record<string, Record<string, unknown>> {
    const text = JSON.stringify(this.answers);
    const versions = [...text.matchAll(/"version":(\d+)/g)].map(([, version]) => Number(version));
    const ranks = [...new Set(versions)].sort((a, b) => a - b);
    const numbers = [...new Set([...text.matchAll(/"number":(\d+)/g)].map(([, number]) => Number(number)))];
    const told = replaced(this.answers, [...this.#names(), [receiver, RECEIVER]]);
    const rounded = JSON.stringify(told).replace(TIME, (time) => this.#rounded(time));
    return JSON.parse(rounded, (key, value: unknown) => {
      if (typeof value === 'number' && key in VOLATILE) return VOLATILE[key];
      if (key === 'nextAt' && Array.isArray(value)) return FIRINGS;
      if (typeof value === 'number' && key === 'version') return ranks.indexOf(value) + 1;
      if (typeof value === 'number' && key === 'number') return numbers.indexOf(value) + 1;
      return key === 'day' && typeof value === 'string' ? NOW.slice(0, 10) : value;
    });
  }

  #names(): (readonly [string, string])[] {
    return Object.entries(this.made).map(([name, real]) => [real, MADE[name as keyof Made]] as const);
  }

  /** A time of the story: to five minutes, so that it does not matter how fast the story was played. */
  #rounded(time: string): string {
    const ms = Date.parse(time) - this.#start;
    return new Date(Date.parse(NOW) + Math.round(ms / FIVE_MINUTES) * FIVE_MINUTES).toISOString();
  }
}

function operationOf(document: Json, id: string): { path: string; method: string; operation: Json } {
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>))
    for (const [method, operation] of Object.entries(methods as Record<string, Json>))
      if (operation.operationId === id) return { path, method, operation };
  throw new Error(`the document has no operation ${id}`);
}

/** The longer ones first: a key has its id in it. */
function replaced<T>(value: T, names: (readonly [string, string | undefined])[]): T {
  let text = JSON.stringify(value);
  for (const [name, other] of names.toSorted(([a], [b]) => b.length - a.length))
    if (other !== undefined) text = text.replaceAll(name, other);
  return JSON.parse(text);
}

/** Answers whose content differs from time to time have the fields that the document shows. */
export function expectSameFields(shown: unknown, real: unknown, what: string): void {
  if (typeof shown === 'string') expect(typeof real, what).toBe('string');
  else expect(Object.keys(real as object).sort(), what).toEqual(Object.keys(shown as object).sort());
}
