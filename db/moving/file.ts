import { createHash } from 'node:crypto';

// The lines of a dump: the header; for each table its name and columns, its rows as COPY writes them, and `\.`; the
// sequences; the number of bytes and the checksum of all lines before.

const FORMAT = 1;
const HEADER = 'docket-dump';
const NEWLINE = 0x0a;
export const END_OF_ROWS = Buffer.from('\\.\n');
const AFTER_ROWS = Buffer.from('\n\\.\n');
/** Longer than any line but rows. */
const MOST_OF_A_LINE = 1024 * 1024;

/** The first line. */
export interface Header {
  format: number;
  /** The version of the program that made it. */
  docket: string;
  edition: number;
  migrations: string[];
  /** Of its snapshot, by the database's clock. */
  at: string;
}

/** A table whose rows follow. */
export interface Table {
  name: string;
  columns: string[];
}

/** A sequence that was used, with the number that it gave last. */
export interface Sequence {
  name: string;
  last: string;
}

interface End {
  bytes: number;
  sha256: string;
}

type Line =
  | ({ word: typeof HEADER } & Header)
  | ({ word: 'table' } & Table)
  | ({ word: 'sequence' } & Sequence)
  | ({ word: 'end' } & End);
const WORDS = [HEADER, 'table', 'sequence', 'end'];

/** A file that is no dump, or an incomplete one. */
export class DumpFileError extends Error {}

const lineOf = (word: string, value: object) => Buffer.from(`${word} ${JSON.stringify(value)}\n`);

export const headerLine = (header: Omit<Header, 'format'>) => lineOf(HEADER, { format: FORMAT, ...header });
export const tableLine = (table: Table) => lineOf('table', table);
export const sequenceLine = (sequence: Sequence) => lineOf('sequence', sequence);

/** The bytes of a dump, with their number and checksum as the last line. */
export async function* sealed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  yield lineOf('end', { bytes, sha256: hash.digest('hex') } satisfies End);
}

/** Reads a dump from its first line to its last, and keeps no more of it in memory than a chunk and a row. */
export class DumpReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #name: string;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  /** Bytes that have been read and not been taken. */
  #rest: Buffer = Buffer.alloc(0);

  /** @param name of the file, for messages */
  constructor(chunks: AsyncIterable<Buffer>, name: string) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#name = name;
  }

  /** @throws DumpFileError when it is no dump, or of a format that this program does not know */
  async header(): Promise<Header> {
    const line = await this.line();
    if (line.word !== HEADER) throw this.#none();
    const { format, docket } = line;
    if (format !== FORMAT)
      throw this.#error(
        `was written by Docket ${docket} in a format that this program does not know; load it with that`,
      );
    return line;
  }

  /**
   * The next line; after that of a table `rows` is to be read.
   * @throws DumpFileError when the file ends before its last line, or does not match its checksum
   */
  async line(): Promise<Line> {
    let end = this.#rest.indexOf(NEWLINE);
    while (end < 0) {
      if (this.#rest.length > MOST_OF_A_LINE) throw this.#bytes === 0 ? this.#none() : this.#altered();
      await this.#more();
      end = this.#rest.indexOf(NEWLINE);
    }
    const text = this.#rest.subarray(0, end).toString();
    const [word = ''] = text.split(' ', 1);
    if (this.#bytes === 0 && word !== HEADER) throw this.#none();
    if (!WORDS.includes(word)) throw this.#altered();
    const line = { ...this.#parsed(text.slice(word.length)), word } as Line;
    if (line.word === 'end') await this.#check(line, end + 1);
    else this.#take(end + 1);
    return line;
  }

  /** The rows of a table, whole ones in each chunk. @throws DumpFileError as `line` does */
  async *rows(): AsyncGenerator<Buffer> {
    for (;;) {
      const atOnce = this.#rest.subarray(0, END_OF_ROWS.length).equals(END_OF_ROWS);
      const ends = atOnce || this.#rest.includes(AFTER_ROWS);
      // without the end: complete rows only, so that the rest begins with a line
      const size = ends ? (atOnce ? 0 : this.#rest.indexOf(AFTER_ROWS) + 1) : this.#rest.lastIndexOf(NEWLINE) + 1;
      if (size > 0) yield this.#take(size);
      if (ends) {
        this.#take(END_OF_ROWS.length);
        return;
      }
      await this.#more();
    }
  }

  #take(size: number): Buffer {
    const taken = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(size);
    this.#hash.update(taken);
    this.#bytes += size;
    return taken;
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (!done) {
      this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
      return;
    }
    if (this.#bytes === 0) throw this.#none();
    throw this.#error('is cut: it ends before its last line; take another copy, or make it again');
  }

  #parsed(text: string): object {
    try {
      return JSON.parse(text) as object;
    } catch {
      throw this.#bytes === 0 ? this.#none() : this.#altered();
    }
  }

  /** Checks the last line, which has `size` bytes. Nothing may follow it. */
  async #check({ bytes, sha256 }: End, size: number): Promise<void> {
    if (bytes !== this.#bytes || sha256 !== this.#hash.digest('hex')) throw this.#altered();
    if (this.#rest.length > size || !(await this.#chunks.next()).done) throw this.#altered();
  }

  #error = (what: string) => new DumpFileError(`${this.#name} ${what}`);
  #none = () => this.#error('is not a file that docket dump has written');
  #altered = () => this.#error('was altered: it is not what its checksum says; take another copy, or make it again');
}

/** Reads all of a dump. @throws DumpFileError unless it is complete */
export async function checkDump(chunks: AsyncIterable<Buffer>, name: string): Promise<void> {
  const reader = new DumpReader(chunks, name);
  await reader.header();
  for (let line = await reader.line(); line.word !== 'end'; line = await reader.line())
    if (line.word === 'table') for await (const _ of reader.rows());
}
