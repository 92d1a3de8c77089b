import { connectionTo, kafkaFailure, loadKafka, type Message } from './kafka-library.ts';
import { lastPosition } from './kafka-position.ts';
import { partsOf, positionOf, type ReceivedEvent, type Target } from './target.ts';

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
    act().catch((error) => {
      throw kafkaFailure(error, place);
    });
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

const messageOf = (topic: string, { text, event: { id, kind, itemId } }: ReceivedEvent): Message => ({
  ...{ topic, key: `${kind}/${itemId}`, value: text, headers: { id } },
});
