import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Limits } from '../runtime/limits.ts';

/** Callers whose key is not known: together they have one bound. */
export const STRANGERS = '';

/** Bodies of strangers that arrive at once: only sign-ins have one, and it fits into the first packet. */
const MOST_OF_STRANGERS = 500;

/** Seconds in which an answer, or a page of a stream, must be read. */
const READ_SECONDS = 60;
/** A smaller text fits into the connection's own buffers. */
const LEAST_TEXT = 64 * 1024;

/** Why a transfer is cut: its time is over, or its caller has too many others. */
export type Cut = 'late' | 'crowded';

/** A body that has not arrived completely, or an answer that has not been read. */
export interface Transfer {
  /** Records bytes that this process holds for it. */
  add(bytes: number): void;
  end(): void;
}

/** Whom an answer is written to. */
interface Reader {
  outgoing: ServerResponse;
  caller?: string;
}

interface Held {
  bytes: number;
  cut(why: Cut): void;
}

/**
 * Bounds what callers who stall make this process hold. A transfer has a time limit. Beyond the bound of its caller, the
 * one that began first is cut and not the newest, because a caller who does not stall is done within moments: so callers
 * with the same key, and sign-ins during an attack on them, go on.
 */
export class Transfers {
  readonly #callers = new Map<string, { bytes: number; held: Set<Held> }>();
  readonly #counted: (why: Cut) => void;
  readonly #limits: Pick<Limits, 'maxCalls' | 'maxHeldBytes'>;

  /** @param counted is given each cut */
  constructor(limits: Pick<Limits, 'maxCalls' | 'maxHeldBytes'>, counted: (why: Cut) => void) {
    this.#limits = limits;
    this.#counted = counted;
  }

  /**
   * @param seconds its time limit; undefined: none
   * @param cut ends it; called once at most, and not after `end`
   */
  begin(caller: string, seconds: number | undefined, cut: (why: Cut) => void): Transfer {
    const of = this.#callers.get(caller) ?? { bytes: 0, held: new Set() };
    this.#callers.set(caller, of);
    const end = () => {
      if (!of.held.delete(transfer)) return false;
      clearTimeout(timer);
      of.bytes -= transfer.bytes;
      if (of.held.size === 0) this.#callers.delete(caller);
      return true;
    };
    const transfer: Held = {
      bytes: 0,
      cut: (why) => {
        if (!end()) return;
        this.#counted(why);
        cut(why);
      },
    };
    const timer = seconds === undefined ? undefined : setTimeout(() => transfer.cut('late'), seconds * 1_000).unref();
    const { maxCalls, maxHeldBytes } = this.#limits;
    const most = caller === STRANGERS ? MOST_OF_STRANGERS : maxCalls;
    const bound = () => {
      for (const oldest of of.held)
        if (of.held.size > 1 && (of.held.size > most || of.bytes > maxHeldBytes)) oldest.cut('crowded');
        else return;
    };
    of.held.add(transfer);
    bound();
    return {
      add(bytes) {
        if (!of.held.has(transfer)) return;
        transfer.bytes += bytes;
        of.bytes += bytes;
        bound();
      },
      end,
    };
  }

  /** Counts a part of an answer until `end`. A cut resets the connection, which frees the kernel's buffers too. */
  holdPart({ outgoing, caller = STRANGERS }: Reader, bytes: number): Transfer {
    const transfer = this.begin(caller, READ_SECONDS, () => reset(outgoing));
    transfer.add(bytes);
    return transfer;
  }

  /** Counts an answer that is about to be written until it has been read, or its connection has ended. */
  holdText(reader: Reader, text: string): void {
    if (text.length < LEAST_TEXT || reader.outgoing.destroyed) return;
    reader.outgoing.once('close', this.holdPart(reader, Buffer.byteLength(text)).end);
  }
}

function reset(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  // a connection with TLS, or no TCP at all, cannot be reset
  if (socket?.constructor === Socket && socket.remotePort !== undefined) socket.resetAndDestroy();
  else outgoing.destroy();
}
