/** Everything this package throws. */
export class DocketError extends Error {
  override name = 'DocketError';
}

interface Answer {
  error: string | null;
  id: string | null;
  [more: string]: unknown;
}

/** The server understood and refused: a job's `{success: false, error}`, or a ticket or case that is not the caller's any more. */
export class RefusedError extends DocketError {
  override name = 'RefusedError';
  readonly id: string | null;
  /** `invalid_request`, `lease_lost`, `not_open`; null where the text says it all. */
  readonly code: string | null;
  /** How a lease ended: `expired`, `released`, `transferred`, `revoked`, …; of what is over why, if a reason was given. */
  readonly reason: string | null;

  constructor(answer: Answer) {
    super(answer.error ?? 'the server gave no reason');
    this.id = answer.id;
    this.code = textOf(answer.code);
    this.reason = textOf(answer.reason);
  }
}

/** The token isn't live: what it held was handed to another one, finished, or taken away. */
export class LeaseLostError extends RefusedError {
  override name = 'LeaseLostError';
  /** Who holds the ticket now; null where no one does, and of jobs and cases. */
  readonly holder: string | null;
  /** When the lease ended; null where it has just run out, and of jobs. */
  readonly endedAt: string | null;

  constructor(answer: Answer) {
    super(answer);
    this.holder = textOf(answer.holder);
    this.endedAt = textOf(answer.endedAt);
  }
}

/** The ticket or case is over. */
export class NotOpenError extends RefusedError {
  override name = 'NotOpenError';
  /** `decided`, `invalidated`, `expired`, …; null where the server doesn't say. */
  readonly state: string | null;
  readonly by: string | null;
  readonly at: string | null;

  constructor(answer: Answer) {
    super(answer);
    this.state = textOf(answer.state);
    this.by = textOf(answer.by);
    this.at = textOf(answer.at);
  }
}

/** The server answered with a 4xx: a repeat would get the same. */
export class HttpError extends DocketError {
  override name = 'HttpError';
  readonly status: number;
  readonly code: string | null;
  /** All that the answer says: `errors` of wrong values, for example. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string | null, detail: string, problem: Record<string, unknown> = {}) {
    super(`${status}: ${detail}`);
    this.status = status;
    this.code = code;
    this.problem = problem;
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

/** No server took the call, for as long as it was repeated. `cause` is the last failure. */
export class UnavailableError extends DocketError {
  override name = 'UnavailableError';
  /** Of the last answer: 500 where a server failed at this call, else such as 503 or 429; null where there was none. */
  readonly status: number | null;

  constructor(message: string, { status = null, ...options }: ErrorOptions & { status?: number | null } = {}) {
    super(message, options);
    this.status = status;
  }
}

/** Whether the same call is likely to succeed later. A 500 says that the server fails at this very call. */
export const isPassing = (error: unknown): boolean => error instanceof UnavailableError && error.status !== 500;

/** Thrown by a handler: set this job aside until it is kicked. */
export class Bury extends Error {
  override name = 'Bury';
}

/** A callback that isn't signed with the secret, or was signed too long ago. */
export class SignatureError extends DocketError {
  override name = 'SignatureError';
}

/** Thrown by a handler: give this ticket or case back, and never offer it to this person again. */
export class Skip extends Error {
  override name = 'Skip';
}

/** Thrown by a juror's handler: I won't take this invitation; another juror is invited instead. */
export class Decline extends Error {
  override name = 'Decline';
}

/** Thrown by a handler: give this job or ticket back, ready again after so many seconds. */
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
  return new (status === 401 || status === 403 ? AuthError : HttpError)(status, code, detail, answer);
}

/**
 * What a rejected call about a ticket or case means for the one who holds it.
 * @param path of the call, whose third name is the id
 */
export function holdError(path: string, error: unknown): unknown {
  if (!(error instanceof HttpError)) return error;
  const { code, problem } = error;
  const id = decodeURIComponent(path.split('/')[3] ?? '');
  const answer = { ...problem, id, error: textOf(problem.detail) ?? error.message };
  if (code === 'lease_lost') return new LeaseLostError(answer);
  return code === 'not_open' ? new NotOpenError(answer) : error;
}

/** Whether what was held is lost, and a repeat would only hear the same. */
export const isLost = (error: unknown): boolean =>
  error instanceof LeaseLostError ||
  error instanceof NotOpenError ||
  (error instanceof HttpError && error.code === 'not_found');

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
