import type { Batch, Reader } from './kafka-library.ts';
import { asJson, type Position } from './target.ts';

/** The bit of a batch that is the end of a transaction, and what such an end says when it commits. */
const [CONTROL, COMMIT] = [0x20, 1];
/** Times that stand for the two ends of a log. */
const [FIRST, END] = [-2n, -1n];

/**
 * The position in the topic's newest transaction that was committed, looked for from the topic's end backwards.
 * Nobody else may be writing there.
 */
export async function lastPosition(reader: Reader, topic: string): Promise<Position | null> {
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
