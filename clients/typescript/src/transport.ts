import { setTimeout as sleep } from 'node:timers/promises';
import { AuthError, HttpError, UnavailableError } from './errors.ts';

export interface TransportOptions {
  /** `http://host:port` of each server, the preferred one first. */
  servers: string | string[];
  apiKey?: string;
  /** How long one try may take, on top of what a long poll waits. */
  timeoutSeconds?: number;
  /** How long a call is repeated while no server answers. */
  retrySeconds?: number;
  /** Ask the servers which others there are. For servers whose HOST is an address that clients can reach. */
  discover?: boolean;
}

export interface CallOptions {
  /** How long the server itself may wait before it answers. */
  waitSeconds?: number;
  timeoutSeconds?: number;
  retrySeconds?: number;
}

type Answer = Record<string, unknown>;

const DISCOVER_MS = 30_000;
const LONGEST_PAUSE_MS = 5_000;
/** What a server that listens everywhere calls itself; nobody else can call it that. */
const ANYWHERE = /^https?:\/\/(0\.0\.0\.0|\[::\])(:|\/|$)/;

/** One try that failed in a way that another server, or a later time, may mend. */
class Transient extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0, cause?: unknown) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Calls the first server that answers. Every command of this package may be sent twice (adding goes by id,
 * the others by token), so a try whose outcome is unknown is simply repeated.
 */
export class Transport {
  readonly #given: string[];
  readonly #headers: Record<string, string>;
  readonly #timeoutSeconds: number;
  readonly #retrySeconds: number;
  #learned: string[] = [];
  #preferred: string | undefined;
  #discoverAt: number;

  constructor(options: TransportOptions) {
    this.#given = [options.servers].flat().map((url) => url.replace(/\/+$/, ''));
    if (this.#given.length === 0) throw new TypeError('servers: at least one is needed');
    this.#headers = { ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }) };
    this.#timeoutSeconds = options.timeoutSeconds ?? 10;
    this.#retrySeconds = options.retrySeconds ?? 30;
    this.#discoverAt = options.discover ? 0 : Number.POSITIVE_INFINITY;
  }

  /** The servers in the order in which they are tried. */
  get servers(): string[] {
    const all = [...new Set([...this.#given, ...this.#learned])];
    const first = Math.max(0, all.indexOf(this.#preferred ?? ''));
    return [...all.slice(first), ...all.slice(0, first)];
  }

  async call(method: 'GET' | 'POST', path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    if (performance.now() >= this.#discoverAt) await this.#discover();
    const until = performance.now() + (options.retrySeconds ?? this.#retrySeconds) * 1000;
    for (let round = 0; ; round++) {
      let failure = new Transient('no server');
      for (const server of this.servers) {
        try {
          const answer = await this.#once(server, method, path, body, options);
          this.#preferred = server;
          return answer;
        } catch (error) {
          if (!(error instanceof Transient)) throw error;
          failure = error;
        }
      }
      const pause = Math.max(pauseMs(round), failure.retryAfterMs);
      if (performance.now() + pause > until)
        throw new UnavailableError(`no server answers: ${failure.message}`, { cause: failure.cause ?? failure });
      await sleep(pause);
    }
  }

  async #once(server: string, method: string, path: string, body: unknown, options: CallOptions): Promise<Answer> {
    const seconds = (options.timeoutSeconds ?? this.#timeoutSeconds) + (options.waitSeconds ?? 0);
    let response: Response;
    let text: string;
    try {
      response = await fetch(server + path, {
        method,
        headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(Math.ceil(seconds * 1000)),
      });
      text = await response.text();
    } catch (error) {
      throw new Transient(`${server}: ${(error as Error).message}`, 0, error);
    }
    return answerOf(server, response, text);
  }

  /** What can't be learned now is asked for again later; the given servers are always there. */
  async #discover(): Promise<void> {
    this.#discoverAt = performance.now() + DISCOVER_MS;
    try {
      const { items } = await this.call('GET', '/v1/nodes', undefined, { retrySeconds: 0 });
      const urls = (items as { url: string | null }[]).map((node) => node.url);
      this.#learned = urls.filter((url): url is string => url !== null && !ANYWHERE.test(url));
    } catch (error) {
      if (error instanceof AuthError) throw error;
    }
  }
}

/** @throws Transient for what another try may mend, HttpError for what none will */
function answerOf(server: string, response: Response, text: string): Answer {
  const { status, headers } = response;
  const answer = objectOf(text);
  if (status >= 200 && status < 300 && answer) return answer;
  const detail = String(answer?.error ?? answer?.detail ?? text.slice(0, 200));
  if (status >= 500 || status === 429 || status < 400) {
    const retryAfterMs = Math.min(Number(headers.get('retry-after')) * 1000 || 0, LONGEST_PAUSE_MS);
    throw new Transient(`${server}: ${status}: ${detail}`, retryAfterMs);
  }
  const code = typeof answer?.code === 'string' ? answer.code : null;
  throw new (status === 401 || status === 403 ? AuthError : HttpError)(status, code, detail);
}

function objectOf(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

/** Doubles from 100 ms, and differs between callers, so that they don't come back all at once. */
export const pauseMs = (round: number) =>
  Math.min(LONGEST_PAUSE_MS, 100 * 2 ** Math.min(round, 10)) * (0.5 + Math.random() / 2);
