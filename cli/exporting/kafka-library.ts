import { reasonOf } from '../../runtime/failures.ts';
import { Transient } from './target.ts';

// What is used of @platformatic/kafka. It needs Node.js 22: on Node.js 20 npm leaves it out, with its types.

type Make<Methods> = new (options: object) => { close(): Promise<void> } & Methods;

export interface Message {
  topic: string;
  key: string;
  value: string;
  headers?: Record<string, string>;
}

interface Transaction {
  send(options: { messages: Message[] }): Promise<unknown>;
  commit(): Promise<void>;
  cancel(): Promise<void>;
}

export interface Batch {
  attributes: number;
  records: { key: Buffer | null; value: Buffer | null }[];
}

export interface Reader {
  metadata(options: object): Promise<{ topics: Map<string, { id: string; partitions: { leader: number }[] }> }>;
  listOffsets(options: { topics: string[]; timestamp: bigint }): Promise<Map<string, bigint[]>>;
  fetch(options: object): Promise<{ responses: { partitions: { records: Batch[] | null }[] }[] }>;
}

interface Library {
  Admin: Make<{ listTopics(): Promise<string[]>; createTopics(options: object): Promise<unknown> }>;
  Consumer: Make<Reader>;
  Producer: Make<{ beginTransaction(options?: object): Promise<Transaction> }>;
  stringSerializers: object;
  compatibilityPartitioner: unknown;
}

const NAME: string = '@platformatic/kafka';

/** @throws Error on a Node.js for which the library is not made, or not installed */
export async function loadKafka(): Promise<Library> {
  const { node } = process.versions;
  const library = Number.parseInt(node, 10) < 22 ? null : await import(NAME).catch(() => null);
  if (library) return library;
  const least = '--to kafka needs Node.js 22.22, 24.6 or newer, on which npm ci installs its client';
  throw new Error(`${least}; this is Node.js ${node}`);
}

/** @param url see `openKafka`; its hosts are separated by commas and have one port */
export function connectionTo(url: string) {
  const { hostname, port, username, password, searchParams } = new URL(url);
  const { tls, mechanism = 'PLAIN', ...other } = Object.fromEntries(searchParams);
  const wrong = Object.keys(other)[0];
  if (wrong) throw new Error(`--url: kafka:// takes tls and mechanism, not ${wrong}`);
  const bootstrapBrokers = hostname.split(',').map((host) => `${host}:${port || 9092}`);
  const pair = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  const secured = {
    ...(username && { sasl: { mechanism, ...pair } }),
    ...(tls === 'true' && { tls: {}, tlsServerName: true }),
  };
  return { place: bootstrapBrokers.join(', '), connection: { bootstrapBrokers, ...secured } };
}

/** A failure of the library; the innermost one says why. */
interface KafkaError extends Error {
  errors?: KafkaError[];
  cause?: KafkaError;
  code?: string;
  /** What a broker answered. */
  apiId?: string;
  canRetry?: boolean;
}

/** Another program made the topic, or a broker has forgotten the producer or ended its transaction: opened again, it goes on. */
const AGAIN = [
  'TOPIC_ALREADY_EXISTS',
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_TXN_STATE',
  'UNKNOWN_PRODUCER_ID',
];
const ADVICE: Record<string, string> = {
  PRODUCER_FENCED: ': another export to this topic has taken over',
  SASL_AUTHENTICATION_FAILED: '; correct the user or the password in --url',
};

/** @param place of the brokers, without user and password */
export function kafkaFailure(error: KafkaError, place: string): Error {
  let root = error;
  for (let inner: KafkaError | undefined = root; inner; inner = root.errors?.at(-1) ?? root.cause) root = inner;
  const { apiId, canRetry, code = '', message } = root;
  const server = `--url: Kafka at ${place}`;
  if (apiId) {
    const said = `${server} answers "${message}"${ADVICE[apiId] ?? ''}`;
    return canRetry !== false || AGAIN.includes(apiId) ? new Transient(said) : new Error(said, { cause: error });
  }
  // of the library or of this program, not of the network
  if (!code || /^PLT_KFK_(?!NETWORK|TIMEOUT)/.test(code)) return error;
  return new Transient(`${server} cannot be reached (${reasonOf(root)}); start it, or correct --url`);
}
