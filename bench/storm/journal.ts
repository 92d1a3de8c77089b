import { createWriteStream, type WriteStream } from 'node:fs';
import type { Json } from '../../test/support/client.ts';
import type { Fault } from './plan.ts';

/** `unknown`: it may or may not have been carried out. */
export type Outcome = 'ok' | 'refused' | 'unknown';

/** One call of a client, as it saw it. */
export interface Op {
  n: number;
  /** Milliseconds since the storm began. */
  at: number;
  until: number | null;
  actor: string;
  /** `ticket.decide` */
  what: string;
  args: Json;
  outcome: Outcome;
  /** 0: none came. */
  status: number;
  answer: Json;
}

/** A fault that was made, with what could not be done as it was planned. */
export interface Injected extends Fault {
  until: number;
  failure?: string;
}

/**
 * What clients did and what went wrong, as newline-delimited JSON: a call has a line before it is sent and one after its answer,
 * so that a fault can be read between the calls that it met.
 */
export class Journal {
  readonly ops: Op[] = [];
  readonly faults: Injected[] = [];
  /** When the storm began, in milliseconds since 1970. */
  readonly epoch = Date.now();
  readonly #begun = performance.now();
  readonly #file: WriteStream | undefined;

  constructor(path?: string) {
    this.#file = path === undefined ? undefined : createWriteStream(path);
  }

  /** Milliseconds since the storm began. */
  now(): number {
    return Math.round(performance.now() - this.#begun);
  }

  begin(actor: string, what: string, args: Json): Op {
    const op: Op = {
      ...{ n: this.ops.length, at: this.now(), until: null, actor, what, args },
      ...{ outcome: 'unknown' as const, status: 0, answer: null },
    };
    this.ops.push(op);
    this.#write({ n: op.n, at: op.at, actor, what, args });
    return op;
  }

  end(op: Op, outcome: Outcome, status: number, answer: Json): Op {
    Object.assign(op, { until: this.now(), outcome, status, answer });
    this.#write({ n: op.n, until: op.until, outcome, status, answer });
    return op;
  }

  fault(fault: Injected): void {
    this.faults.push(fault);
    this.#write({ fault });
  }

  close(): Promise<void> {
    return new Promise((resolve) => (this.#file ? this.#file.end(resolve) : resolve()));
  }

  #write(line: object): void {
    this.#file?.write(`${JSON.stringify(line)}\n`);
  }
}
