/** Everything this package throws. */
export class DocketError extends Error {
  override name = 'DocketError';
}

/** The server understood the command and refused it: `{success: false, error}`. */
export class RefusedError extends DocketError {
  override name = 'RefusedError';
  readonly id: string | null;
  /** `invalid_request`, `lease_lost`, `not_open`; null where the text says it all. */
  readonly code: string | null;
  /** How a reservation ended: `expired`, `released`, …; null where none did. */
  readonly reason: string | null;

  constructor(answer: { error: string | null; id: string | null; [more: string]: unknown }) {
    super(answer.error ?? 'the server gave no reason');
    this.id = answer.id;
    this.code = textOf(answer.code);
    this.reason = textOf(answer.reason);
  }
}

/** The token isn't live: the job was handed to another consumer, finished or deleted. */
export class LeaseLostError extends RefusedError {
  override name = 'LeaseLostError';
}

/** The server answered with a 4xx: a repeat would get the same. */
export class HttpError extends DocketError {
  override name = 'HttpError';
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, code: string | null, detail: string) {
    super(`${status}: ${detail}`);
    this.status = status;
    this.code = code;
  }
}

/** 401 or 403: the key is missing, wrong, or of a role that may not do this. */
export class AuthError extends HttpError {
  override name = 'AuthError';
}

/** A completion of what is not the user's last dispatch: it was returned meanwhile, or belongs to another user (S4.7). */
export class StaleLogIdError extends HttpError {
  override name = 'StaleLogIdError';
  /** The log id of the dispatch that is with the user now; null where none is. */
  readonly current: string | null;

  constructor(detail: string, current: string | null) {
    super(409, 'stale_log_id', detail);
    this.current = current;
  }
}

/** A dispatch has failed so many times in a row, and no other can come before it; `cause` is the last failure. */
export class StuckError extends DocketError {
  override name = 'StuckError';
  readonly failures: number;

  constructor(failures: number, cause: unknown) {
    super(`failed ${failures} times in a row, at last with: ${cause}`, { cause });
    this.failures = failures;
  }
}

/** No server answered, for as long as the call was repeated. `cause` is the last failure. */
export class UnavailableError extends DocketError {
  override name = 'UnavailableError';
}

/** Thrown by a handler: set this job aside until it is kicked. */
export class Bury extends Error {
  override name = 'Bury';
}

/** Thrown by a handler: give this job back, ready again after so many seconds. */
export class Release extends Error {
  override name = 'Release';
  readonly delaySeconds: number;

  constructor(delaySeconds: number, message = 'released by its handler') {
    super(message);
    this.delaySeconds = delaySeconds;
  }
}

/** What a 4xx is, by its status and what it says of itself. */
export function httpError(status: number, detail: string, answer: Record<string, unknown> | undefined): HttpError {
  const code = textOf(answer?.code);
  if (code === 'stale_log_id') return new StaleLogIdError(detail, textOf(answer?.current));
  return new (status === 401 || status === 403 ? AuthError : HttpError)(status, code, detail);
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
