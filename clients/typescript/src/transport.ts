import { DocketError, httpError, UnavailableError } from './errors.ts';
import { LONGEST_PAUSE_MS, pause, pauseMs } from './pauses.ts';

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
  /** Breaks the call off, which then fails with the signal's reason. */
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** One connection, whose answer goes on and on. */
export interface Connection {
  server: string;
  path: string;
  headers?: Record<string, string>;
  /** Whether the key is sent. */
  keyed: boolean;
  signal: AbortSignal;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';
type Answer = Record<string, unknown>;

const DISCOVER_MS = 30_000;
/** Streams have signs of life each 15 s. */
const SILENCE_MS = 45_000;
/** What a server that listens everywhere calls itself; no other host has this name. */
const ANYWHERE = /^https?:\/\/(0\.0\.0\.0|\[::\])(:|\/|$)/;

/** A path with its names encoded. */
export const path = (parts: TemplateStringsArray, ...names: string[]): string =>
  String.raw(parts, ...names.map((name) => encodeURIComponent(name)));

/** One try that failed in a way that another server, or a later time, may mend. */
export class Transient extends Error {
  readonly retryAfterMs: number;
  /** Of an answer; null where none came. */
  readonly status: number | null;

  constructor(message: string, retryAfterMs = 0, cause?: unknown, status: number | null = null) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

/**
 * Calls the first server that answers. Every call of this package may be sent twice (adding goes by id or
 * `Idempotency-Key`, the others by token or log id), so a try whose outcome is unknown is repeated.
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

  get hasKey(): boolean {
    return 'authorization' in this.#headers;
  }

  /** The servers in the order in which they are tried. */
  get servers(): string[] {
    const all = [...new Set([...this.#given, ...this.#learned])];
    const first = Math.max(0, all.indexOf(this.#preferred ?? ''));
    return [...all.slice(first), ...all.slice(0, first)];
  }

  /**
   * @throws HttpError for a 4xx; UnavailableError when no server answers for `retrySeconds`; TypeError for a body that
   *     JSON can't say
   */
  async call(method: Method, path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    await this.discover(options.signal);
    // not one of the tries: what can't be said to one server can't be said to any
    const content = body === undefined ? undefined : JSON.stringify(body);
    const until = performance.now() + (options.retrySeconds ?? this.#retrySeconds) * 1000;
    for (let round = 0; ; round++) {
      let failure = new Transient('no server');
      for (const server of this.servers) {
        try {
          const answer = await this.#once(server, method, path, content, options);
          this.#preferred = server;
          return answer;
        } catch (error) {
          if (!(error instanceof Transient)) throw error;
          // one that fails at the call says more than one that is away
          if (failure.status !== 500) failure = error;
        }
      }
      const ms = Math.max(pauseMs(round), failure.retryAfterMs);
      if (performance.now() + ms > until) {
        const { message, cause = failure, status } = failure;
        throw new UnavailableError(`no server answers: ${message}`, { cause, status });
      }
      await pause(ms, options.signal);
    }
  }

  async #once(server: string, method: Method, path: string, body: string | undefined, options: CallOptions) {
    const { waitSeconds = 0, timeoutSeconds = this.#timeoutSeconds, signal } = options;
    signal?.throwIfAborted();
    // AbortSignal.any would keep something of each call for as long as the caller's signal lives
    const cut = new AbortController();
    const breakOff = () => cut.abort();
    const timer = setTimeout(breakOff, Math.ceil((timeoutSeconds + waitSeconds) * 1000));
    signal?.addEventListener('abort', breakOff);
    let response: Response;
    let text: string;
    try {
      const type = body !== undefined && { 'content-type': 'application/json' };
      const headers = { ...this.#headers, ...type, ...options.headers };
      response = await fetch(server + path, { method, headers, body, signal: cut.signal });
      text = await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      const why = cut.signal.aborted ? `no answer in ${timeoutSeconds + waitSeconds} s` : (error as Error).message;
      throw new Transient(`${server}: ${why}`, 0, error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', breakOff);
    }
    return answerOf(server, response, text);
  }

  /** One try at one server. @throws Transient, HttpError, the signal's reason */
  async once(server: string, method: Method, path: string, signal: AbortSignal): Promise<Answer> {
    return this.#once(server, method, path, undefined, { signal });
  }

  /**
   * Reads an answer as it comes, until the server ends it.
   * @throws Transient where the connection fails, HttpError for a 4xx, the signal's reason
   */
  async *read({ server, path, headers, keyed, signal }: Connection): AsyncGenerator<string> {
    signal.throwIfAborted();
    const cut = new AbortController();
    const breakOff = () => cut.abort();
    signal.addEventListener('abort', breakOff);
    let timer = setTimeout(breakOff, this.#timeoutSeconds * 1000);
    try {
      const all = { ...(keyed && this.#headers), ...headers };
      const response = await fetch(server + path, { headers: all, signal: cut.signal });
      if (!response.ok || !response.body) answerOf(server, response, await response.text());
      this.#preferred = server;
      clearTimeout(timer);
      timer = setTimeout(breakOff, SILENCE_MS);
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        // a reader may take any time between two chunks
        clearTimeout(timer);
        yield decoder.decode(chunk, { stream: true });
        timer = setTimeout(breakOff, SILENCE_MS);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Transient || error instanceof DocketError) throw error;
      throw new Transient(`${server}: ${cut.signal.aborted ? 'silence' : (error as Error).message}`, 0, error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', breakOff);
      breakOff();
    }
  }

  /** Asks for the servers there are, if that is wanted and due. */
  async discover(signal?: AbortSignal): Promise<void> {
    if (performance.now() < this.#discoverAt) return;
    this.#discoverAt = performance.now() + DISCOVER_MS;
    try {
      const { items } = await this.call('GET', '/v1/nodes', undefined, { retrySeconds: 0, signal });
      const urls = (items as { url: string | null }[]).map((node) => node.url);
      this.#learned = urls.filter((url): url is string => url !== null && !ANYWHERE.test(url));
    } catch {
      // what can't be learned now is asked for again later; the given servers are always there
    }
  }
}

/** @throws Transient for what another try may mend, HttpError for what none will */
function answerOf(server: string, response: Response, text: string): Answer {
  const { status, headers } = response;
  const answer = status === 204 ? {} : objectOf(text);
  if (status >= 200 && status < 300 && answer) return answer;
  const detail = String(answer?.error ?? answer?.detail ?? text.slice(0, 200));
  if (status >= 500 || status === 429 || status < 400) {
    const retryAfterMs = Math.min(Number(headers.get('retry-after')) * 1000 || 0, LONGEST_PAUSE_MS);
    throw new Transient(`${server}: ${status}: ${detail}`, retryAfterMs, undefined, status);
  }
  throw httpError(status, detail, answer);
}

function objectOf(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}
