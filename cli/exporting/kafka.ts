import { reasonOf, throwing } from '../../runtime/failures.ts';
import { asJson, type Position, partsOf, positionOf, type ReceivedEvent, type Target, Transient } from './target.ts';

/**
 * Mostly for a transaction whose end the brokers are still writing, which takes milliseconds. Few: the library retries
 * inside of retries, and an export that is opened again does no harm.
 */
const RETRIES = { retries: 5, retryDelay: (_: unknown, __: string, attempt: number) => 25 * attempt };
/** Of a transaction: after it the brokers end one that a killed export has left open. */
const TIMEOUT_MS = 60_000;
/** Of values, beside which keys and headers are smaller: brokers take up to 1 MiB for a partition at once, by default. */
const REQUEST_BYTES = 500_000;

/**
 * Sends events with the key `kind/itemId` and their id as a header. Each batch is a transaction together with its
 * position, a record of the compacted topic `TOPIC-position`: readers of committed records see each event once. Makes
 * both topics where they are missing. By its transactional id it ends what an earlier export left open, and stops it.
 * @param url `kafka://user:password@one,two:9092?tls=true&mechanism=SCRAM-SHA-512`, all but the host may be left out
 * @throws Transient when no broker can be reached; Error when they refuse, or on a Node.js that is too old
 */
export async function openKafka(url: string, topic: string): Promise<Target> {
  const { Admin, Consumer, Producer, stringSerializers, compatibilityPartitioner } = await loadKafka();
  const { place, connection } = connectionTo(url);
  const options = { ...connection, ...RETRIES, clientId: 'docket-export', timeout: TIMEOUT_MS };
  const admin = new Admin(options);
  const transactional = { idempotent: true, transactionalId: `docket-export-${topic}` };
  // partitioned as by Java's clients
  const format = { serializers: stringSerializers, partitioner: compatibilityPartitioner };
  const producer = new Producer({ ...options, ...transactional, ...format });
  const reader = new Consumer({ ...options, groupId: 'docket-export' });
  const positions = `${topic}-position`;
  const attempt = <T>(act: () => Promise<T>): Promise<T> =>
    act().catch(throwing((error) => kafkaFailure(error, place)));
  const close = async () => {
    await Promise.allSettled([admin, producer, reader].map((client) => client.close()));
  };
  const open = async () => {
    const there = await admin.listTopics();
    const make = async (name: string, more: object) =>
      there.includes(name) || (await admin.createTopics({ topics: [name], replicas: -1, ...more }));
    await make(topic, { partitions: -1 });
    await make(positions, { partitions: 1, configs: [{ name: 'cleanup.policy', value: 'compact' }] });
    // -1: whatever producer had this transactional id, where the library would say 0 and be refused
    await (await producer.beginTransaction({ producerId: -1n, producerEpoch: -1 })).cancel();
  };
  await attempt(open).catch(async (error) => {
    await close();
    throw error;
  });
  return {
    name: topic,
    position: () => attempt(() => lastPosition(reader, positions)),
    write: (events) =>
      attempt(async () => {
        const position = { topic: positions, key: 'position', value: JSON.stringify(positionOf(events)) };
        const transaction = await producer.beginTransaction();
        // one after the other, so that an item's events keep their order
        for (const part of partsOf(events, REQUEST_BYTES))
          await transaction.send({ messages: part.map((event) => messageOf(topic, event)) });
        await transaction.send({ messages: [position] });
        await transaction.commit();
      }),
    close,
  };
}

const messageOf = (topic: string, { text, event: { id, kind, itemId } }: ReceivedEvent): object => ({
  ...{ topic, key: `${kind}/${itemId}`, value: text, headers: { id } },
});

/** Not known where npm leaves the library out, on Node.js 20, with its types. */
// biome-ignore lint/suspicious/noExplicitAny: as it says
type Library = any;

/** Records of a log that were written together. */
interface Batch {
  attributes: number;
  records: { key: Buffer | null; value: Buffer | null }[];
}

const NAME: string = '@platformatic/kafka';

/** @throws Error on a Node.js for which the library is not made, or not installed */
async function loadKafka(): Promise<Library> {
  const { node } = process.versions;
  const library = Number.parseInt(node, 10) < 22 ? null : await import(NAME).catch(() => null);
  if (library) return library;
  const least = '--to kafka needs Node.js 22.22, 24.6 or newer, on which npm ci installs its client';
  throw new Error(`${least}; this is Node.js ${node}`);
}

/** @param url see `openKafka`; its hosts are separated by commas and have one port */
function connectionTo(url: string) {
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
function kafkaFailure(error: KafkaError, place: string): Error {
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

/** The bit of a batch that is the end of a transaction, and what such an end says when it commits. */
const [CONTROL, COMMIT] = [0x20, 1];
/** Times that stand for the two ends of a log. */
const [FIRST, END] = [-2n, -1n];

/**
 * The position in the topic's newest transaction that was committed, looked for from the topic's end backwards.
 * Nobody else may be writing there.
 */
async function lastPosition(reader: Library, topic: string): Promise<Position | null> {
  const { topics } = await reader.metadata({ topics: [topic] });
  const { id: topicId, partitions = [] } = topics.get(topic) ?? {};
  const offset = async (timestamp: bigint) => {
    const offsets = await reader.listOffsets({ topics: [topic], timestamp });
    return Number(offsets.get(topic)?.[0] ?? 0);
  };
  const [first, end] = [await offset(FIRST), await offset(END)];
  for (let back = 100; first < end; back *= 10) {
    const from = Math.max(first, end - back);
    const partition = { partition: 0, fetchOffset: BigInt(from), currentLeaderEpoch: -1, lastFetchedEpoch: -1 };
    const wanted = { topicId, partitions: [{ ...partition, partitionMaxBytes: 50 * 1024 * 1024 }] };
    const { responses } = await reader.fetch({ node: partitions[0]?.leader, topics: [wanted] });
    const found = committed(responses[0]?.partitions[0]?.records ?? []);
    if (found || from === first) return found;
  }
  return null;
}

/** The library's own filter of aborted transactions misses some where one producer has several. */
function committed(batches: Batch[]): Position | null {
  let [open, last]: (Position | null)[] = [null, null];
  for (const { attributes, records } of batches) {
    const { key, value } = records.at(-1) ?? {};
    if (attributes & CONTROL) {
      if (key?.readInt16BE(2) === COMMIT) last = open ?? last;
      open = null;
    } else if (value) open = asJson(String(value)) as Position;
  }
  return last ?? null;
}
