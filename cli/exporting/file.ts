import { type FileHandle, open } from 'node:fs/promises';
import { FeedEvent } from '../../contract/feed.ts';
import { reasonOf } from '../../runtime/failures.ts';
import { type Position, positionOf, type ReceivedEvent, type Target } from './target.ts';

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Appends the lines to a file, which is made where it is missing. Its last line is the position: a kill can leave at
 * most an incomplete last line, which is removed at the next start.
 * @throws Error when its last line is no event, or when another program writes to it meanwhile
 */
export async function openFile(path: string): Promise<Target> {
  const file = await open(path, 'a+').catch((error: unknown) => {
    throw new Error(`--file: cannot write to ${path} (${reasonOf(error)}); name another one by --file`, {
      cause: error,
    });
  });
  try {
    let end = (await newlineBefore(file, (await file.stat()).size)) + 1;
    await file.truncate(end);
    let last = await lastLine(file, end, path);
    return {
      name: path,
      position: async () => last,
      async write(events: ReceivedEvent[]) {
        if ((await file.stat()).size !== end) throw new Error(`${path} is written to by another program too`);
        const bytes = Buffer.from(events.map(({ text }) => `${text}\n`).join(''));
        await file.appendFile(bytes);
        await file.datasync();
        end += bytes.length;
        last = positionOf(events);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The offset of the last line's end before `before`, or -1. */
async function newlineBefore(file: FileHandle, before: number): Promise<number> {
  const chunk = Buffer.alloc(CHUNK);
  for (let end = before; end > 0; ) {
    const start = Math.max(0, end - CHUNK);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const found = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (found >= 0) return start + found;
    end = start;
  }
  return -1;
}

async function lastLine(file: FileHandle, end: number, path: string): Promise<Position | null> {
  if (end === 0) return null;
  const start = (await newlineBefore(file, end - 1)) + 1;
  const bytes = Buffer.alloc(end - 1 - start);
  await file.read(bytes, 0, bytes.length, start);
  try {
    const { seq, id } = FeedEvent.parse(JSON.parse(bytes.toString()));
    return { seq, id };
  } catch {
    throw new Error(`the last line of ${path} is no event of a feed: name another file`);
  }
}
