/** A block of server-sent events. */
export interface Block {
  id: string | undefined;
  type: string;
  /** Null: it has no data, and is no event. */
  data: string | null;
}

/**
 * Reads server-sent events from text as it comes. Parsers of libraries drop what has no data; here it counts, because
 * its id says where a stream begins.
 */
export class SseParser {
  #rest = '';
  #id: string | undefined;
  #type = '';
  #data: string[] = [];

  /** @returns the blocks that are complete now */
  feed(text: string): Block[] {
    const blocks: Block[] = [];
    // a CR at the end may be half of a CRLF
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?=.)/s);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') blocks.push(...this.#end());
      else this.#read(line);
    }
    return blocks;
  }

  #read(line: string): void {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#type = value;
    else if (field === 'id') this.#id = value;
  }

  #end(): Block[] {
    const data = this.#data.length > 0 ? this.#data.join('\n') : null;
    const block = { id: this.#id, type: this.#type || 'message', data };
    this.#id = undefined;
    this.#type = '';
    this.#data = [];
    return block.id === undefined && data === null ? [] : [block];
  }
}
