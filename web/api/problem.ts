/** Why a call failed, as far as it is known: RFC 9457 from the API, or that nothing answered. */
export interface Problem {
  /** A code of the API; `unreachable` where there was no answer. */
  code: string;
  status: number;
  title: string;
  detail: string;
  /** What the server's log knows the call by; null where it never got there. */
  requestId: string | null;
  errors: { path: string; message: string }[];
  /** Fields that only this code has. */
  [more: string]: unknown;
}

/** What every failed call throws. */
export class CallError extends Error {
  override name = 'CallError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** One that the console itself has found. */
export const ownProblem = (code: string, error: unknown, errors: Problem['errors'] = []): Problem => ({
  ...{ code, status: 0, title: '', requestId: null, errors },
  detail: error instanceof Error ? error.message : String(error),
});

/** Whatever was thrown, as something that can be shown. */
export const problemOf = (error: unknown): Problem =>
  error instanceof CallError ? error.problem : ownProblem('console', error);

/** The server or the way to it: the same call may well succeed later. */
export const isPassing = ({ status }: Problem): boolean => status === 0 || status === 429 || status >= 500;

/** Whether the same call may succeed later, also after a sign-in in another tab. */
export const mayPass = (problem: Problem): boolean => isPassing(problem) || problem.code === 'unauthenticated';

/** The problem in an answer; of an answer that is none, such as a proxy's page, what its status says. */
export function problemIn(body: unknown, response: Response): Problem {
  const given = typeof body === 'object' && body !== null ? (body as Partial<Problem>) : {};
  return {
    ...given,
    code: given.code ?? (response.status === 401 ? 'unauthenticated' : 'http'),
    status: response.status,
    title: given.title ?? response.statusText,
    detail: given.detail ?? `${response.status} ${response.statusText}`,
    requestId: given.requestId ?? response.headers.get('x-request-id'),
    errors: given.errors ?? [],
  };
}
