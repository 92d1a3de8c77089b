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

/** The token isn't live: the job was handed to somebody else, finished or deleted. */
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

/** No server answered, for as long as the call was repeated. `cause` is the last failure. */
export class UnavailableError extends DocketError {
  override name = 'UnavailableError';
}

/** Thrown by a handler: set this job aside until somebody kicks it. */
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

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
