import { NamespaceNotFoundError } from '@temporalio/common';
import { DatabaseError } from 'pg';
import { SMALL_BODY } from '../../contract/common.ts';
import { PROBLEMS, type ProblemCode } from '../../contract/problems.ts';
import { READ_ONLY } from '../../db/connecting.ts';
import type { Config } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import { Repeating } from '../../runtime/repeating.ts';
import type { Runtime } from '../../runtime/runtime.ts';

/** Settings of services (docs/configuration.md). */
export type ServiceConfig = Pick<
  Config,
  | 'privateCallbacks'
  | 'signalNamespaces'
  | 'maxRotations'
  | 'retention'
  | 'archive'
  | 'auditSkewSeconds'
  | 'openId'
  | 'fullText'
>;

/** The first argument of every service function: the process's runtime, and the settings of services. */
export interface Context extends Runtime {
  readonly config: ServiceConfig;
}

/**
 * State that a module keeps for each context, such as the calls that share a statement. Made at its first use, so that
 * a module has no state of its own and a process may have several contexts.
 */
export function perContext<T>(make: (ctx: Context) => T): (ctx: Context) => T {
  const made = new WeakMap<Context, T>();
  return (ctx) => {
    let state = made.get(ctx);
    if (state === undefined) {
      state = make(ctx);
      made.set(ctx, state);
    }
    return state;
  };
}

/** An answer that is an error: RFC 9457, with a stable code. Thrown by handlers, written by the app. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly fields: Record<string, unknown>;

  /** @param fields more members of the problem; `status` overrides the code's own */
  constructor(code: ProblemCode, detail: string, fields: Record<string, unknown> = {}) {
    super(detail);
    this.code = code;
    this.status = typeof fields.status === 'number' ? fields.status : PROBLEMS[code].status;
    this.fields = fields;
  }

  toJSON(requestId: string) {
    return {
      ...this.fields,
      type: `/docs/errors#${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      code: this.code,
      detail: this.message,
      requestId,
    };
  }
}

export const invalid = (path: string, message: string) =>
  new Problem('invalid_request', `${path || 'the body'} ${message}`, { errors: [{ path, message }] });

/** @param what such as `ticket 17` */
export const erased = (what: string) => new Problem('erased', `${what} has been erased`);

/** The row that a statement found. @throws Problem `not_found` with this detail where it found none */
export function found<T>([row]: T[], missing: string): T {
  if (row === undefined) throw new Problem('not_found', missing);
  return row;
}

/** An entry of a batch is bounded like a call of its own. @throws Problem `payload_too_large` */
export const checkEntry = (name: string, sent: unknown): void => checkSize(`${name}: an entry of a batch`, sent);

/** @throws Problem `payload_too_large` beyond what a call's body may have, measured as JSON without white space */
export function checkSize(what: string, sent: unknown): void {
  if (Buffer.byteLength(JSON.stringify(sent) ?? '') > SMALL_BODY)
    throw new Problem('payload_too_large', `${what} may have ${SMALL_BODY} bytes at most`);
}

/** Temporal or its worker did not answer. */
export function unreachable(log: Log, error: unknown): Problem {
  log.warn({ err: (error as Error).message }, 'Temporal cannot be asked');
  if (error instanceof NamespaceNotFoundError) {
    const detail = `Temporal has no namespace ${error.namespace}: create it, or correct TEMPORAL_NAMESPACE`;
    return new Problem('unavailable', detail);
  }
  return new Problem('unavailable', 'Temporal or its worker cannot be reached, try again');
}

const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH']);
/** A statement that ran into its time-out. */
const CANCELLED = '57014';
/** Connection exceptions, shutdown, too many connections, lock and statement time-outs, disk full, a standby. */
const STORE_STATES = /^(08|57P|53|55P03|57014|25006)/;

/** Whether an error means that Postgres can't be reached or can't work now, not that the statement was wrong. */
export function isUnavailable(error: unknown): boolean {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (NETWORK.has(code) || STORE_STATES.test(code)) return true;
  if (error instanceof DatabaseError) return false;
  return /timeout exceeded when trying to connect|Connection terminated|not queryable|read timeout|use a pool after/i.test(
    message ?? '',
  );
}

/** What any error is to the caller. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof DatabaseError && error.code === CANCELLED)
    return new Problem('unavailable', 'the database took too long to answer, ask for less or try again');
  if ((error as { code?: unknown } | null)?.code === READ_ONLY)
    return new Problem('unavailable', 'the database accepts no writes now, try again');
  if (isUnavailable(error))
    return new Problem('unavailable', 'the database cannot be reached or has no connection free, try again');
  return new Problem('internal', 'this is a bug; the request id helps to find it');
}

/** Temporal rejects what it was sent (gRPC INVALID_ARGUMENT): asking again changes nothing. */
export const isInvalidArgument = (error: unknown) =>
  ((error as Error).cause as { code?: number } | undefined)?.code === 3;

/**
 * Work in the background: one run at a time, and one more for calls of `look` during it. `stop` waits for the current one.
 * @param failed what the log says of a run that failed
 */
export function background(work: (ctx: Context, signal: AbortSignal) => Promise<void>, failed: string) {
  const states = perContext((ctx) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const warn = (error: Error) => void (signal.aborted || ctx.log.warn({ err: error.message }, failed));
    return { stopping, runs: new Repeating(() => work(ctx, signal), warn) };
  });
  return {
    look: (ctx: Context): void => states(ctx).runs.run(),
    stop(ctx: Context): Promise<void> {
      states(ctx).stopping.abort();
      return states(ctx).runs.stop();
    },
  };
}
