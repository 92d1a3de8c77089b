import createClient from 'openapi-fetch';
import type { components, paths } from '../../clients/typescript/src/openapi.ts';
import { noteDate } from './clock.ts';
import { CallError, ownProblem, problemIn } from './problem.ts';
import { signedOut } from './session.ts';

export type Schemas = components['schemas'];

/** The API by its own document: paths, parameters, bodies and answers are checked by the compiler. */
export const api = createClient<paths>();

/** What a GET takes and answers, by its path. */
export type Asked<P extends keyof paths> = paths[P] extends { get: { parameters: infer A } } ? A : never;
export type Answer<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer A } } } };
}
  ? A
  : never;

/** @throws CallError */
export const get = <P extends keyof paths>(path: P, params: Asked<P>, signal?: AbortSignal): Promise<Answer<P>> =>
  data(api.GET(path as never, { params, signal } as never));

/** null: there is nothing of that name. */
export async function orNull<T>(calling: Promise<T>): Promise<T | null> {
  try {
    return await calling;
  } catch (error) {
    if (error instanceof CallError && error.problem.code === 'not_found') return null;
    throw error;
  }
}

interface Called<T> {
  data?: T | undefined;
  error?: unknown;
  response: Response;
}

/**
 * What a call answers: `await data(api.GET('/v1/queues/{queue}', { params: { path: { queue } } }))`.
 * @throws CallError with the problem that was answered, or `unreachable`
 */
export async function data<T>(calling: Promise<Called<T>>): Promise<T> {
  const {
    data: answered,
    error,
    response,
  } = await calling.catch((cause: unknown) => {
    // who gave up the call wants no explanation
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new CallError(ownProblem('unreachable', cause));
  });
  noteDate(response.headers.get('date'));
  if (response.ok) return answered as T;
  const problem = problemIn(error, response);
  if (problem.code === 'unauthenticated') signedOut();
  throw new CallError(problem);
}
