import { FeedEvent } from '../../contract/feed.ts';
import { reasonOf } from '../../runtime/failures.ts';
import { asJson, type ReceivedEvent, Transient } from './target.ts';

/** Events in one answer, the most that the server gives. Fewer: the feed ends there. */
const ANSWER = 10_000;
const BATCH = 1_000;
const BATCH_CHARACTERS = 4 * 1024 * 1024;
const AGAIN = new Set([429, 500, 502, 503, 504]);

interface Options {
  /** Of the server, such as http://127.0.0.1:3000. */
  url: string;
  /** The option or variable that holds the URL. */
  setting: string;
  key: string | undefined;
  signal: AbortSignal;
}

/** A running server's feed. */
export class Source {
  readonly url: string;
  readonly #o: Options;

  constructor(options: Options) {
    this.#o = options;
    this.url = options.url.replace(/\/+$/, '');
  }

  /**
   * The events after a position, up to the end of the feed, in batches that are read on demand.
   * @throws Transient when the connection fails or is lost; Error when the server refuses, or sends an earlier position
   */
  async *batches(after: number): AsyncGenerator<ReceivedEvent[]> {
    for (let [at, seen] = [after, ANSWER]; seen === ANSWER; ) {
      seen = 0;
      let batch: ReceivedEvent[] = [];
      let size = 0;
      for await (const text of this.#lines(`after=${at}&limit=${ANSWER}`)) {
        const event = this.#parse(text);
        if (event.seq <= at) throw new Error(`${this.url} sent position ${event.seq} behind ${at}`);
        at = event.seq;
        seen++;
        batch.push({ text, event });
        size += text.length;
        if (batch.length < BATCH && size < BATCH_CHARACTERS) continue;
        yield batch;
        batch = [];
        size = 0;
      }
      if (batch.length > 0) yield batch;
    }
  }

  /**
   * @returns undefined if the event is, or was, at its position, else the one that is there instead. An event that was
   *   cleared with its item leaves its position empty, and the feed goes on after it
   */
  async differs(seq: number, id: string): Promise<string | undefined> {
    let newest = 0;
    const seen = (response: Response) => {
      newest = Number(response.headers.get('docket-feed-newest'));
    };
    let event: FeedEvent | undefined;
    for await (const text of this.#lines(`after=${seq - 1}&limit=1`, seen)) event = this.#parse(text);
    if (event?.seq === seq) return event.id === id ? undefined : event.id;
    return event || newest >= seq ? undefined : 'nothing';
  }

  /** Waits until there is an event after a position. */
  async next(after: number): Promise<void> {
    let came = false;
    for await (const text of this.#lines(`after=${after}&limit=1&follow=true`)) came = text !== '';
    if (!came) throw new Transient(`${this.url} ended the answer`);
  }

  #parse(text: string): FeedEvent {
    const parsed = FeedEvent.safeParse(asJson(text));
    if (!parsed.success) throw new Error(`${this.url} sent a line that is no event: ${text.slice(0, 200)}`);
    return parsed.data;
  }

  async *#lines(query: string, seen = (_: Response) => {}): AsyncGenerator<string> {
    const { key, signal } = this.#o;
    try {
      const headers = new Headers(key === undefined ? [] : [['authorization', `Bearer ${key}`]]);
      const response = await fetch(`${this.url}/v1/feed?${query}`, { headers, signal, redirect: 'error' });
      if (response.status !== 200) throw await this.#refusal(response);
      if (!response.headers.get('content-type')?.startsWith('application/x-ndjson') || !response.body)
        throw new Error(`${this.#o.setting}: ${this.url} is no Docket server; correct ${this.#o.setting}`);
      seen(response);
      yield* linesOf(response.body);
    } catch (error) {
      // fetch throws this when it gets no connection or loses it
      if (error instanceof TypeError && error.cause !== undefined && !signal.aborted)
        throw new Transient(
          `${this.#o.setting}: ${this.url} cannot be reached (${reasonOf(error.cause)}); start Docket there, or name ` +
            'another URL by --from',
        );
      throw error;
    }
  }

  async #refusal(response: Response): Promise<Error> {
    const { detail } = (asJson(await response.text()) ?? {}) as { detail?: string };
    const said = `${this.url} answered ${response.status}${detail ? `: ${detail}` : ''}`;
    if (response.status === 401 || response.status === 403)
      return new Error(
        `DOCKET_KEY: ${said}; set DOCKET_KEY, or --key, to a key that may read the feed: docket key create --role producer`,
      );
    return AGAIN.has(response.status) ? new Transient(said) : new Error(said);
  }
}

/** Complete lines that are not blank. @throws Transient where the last one has no end */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
  if (rest !== '') throw new Transient('an answer of the feed broke off');
}
