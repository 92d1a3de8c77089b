/** What a call takes. */
const MANY = 1000;
/** Half of what the server takes. */
const MANY_BYTES = 4 * 1024 * 1024;

const encoder = new TextEncoder();

/** Cuts a list into what one call takes, at least one entry each. */
export function* batches<Entry>(entries: Iterable<Entry>): Generator<Entry[]> {
  let part: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = encoder.encode(JSON.stringify(entry)).length;
    if (part.length === MANY || (part.length > 0 && bytes + size > MANY_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(entry);
    bytes += size;
  }
  if (part.length > 0) yield part;
}
