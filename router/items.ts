import { invalid, Problem } from '../services/shared/problems.ts';
import { bodyOf, type Call, forward, read, withValue } from './forward.ts';
import type { Docket, Places } from './places.ts';

/** What of an item's kind is in the path: `tickets`, `jobs`, `cases`. */
export type Noun = 'tickets' | 'jobs' | 'cases';

const MOST_LOCATED = 100_000;

/** Finds the Docket of an item by asking for it: which one had it last, then all. */
export class Locator {
  readonly #found = new Map<string, string>();

  /** In the order in which to ask for it. */
  order(places: Places, noun: Noun, id: string): Docket[] {
    const known = this.#found.get(`${noun}/${id}`);
    return known === undefined ? places.all : places.all.toSorted((a, b) => +(b.name === known) - +(a.name === known));
  }

  learn(noun: Noun, id: string, docket: Docket): void {
    if (this.#found.size >= MOST_LOCATED) this.#found.clear();
    this.#found.set(`${noun}/${id}`, docket.name);
  }
}

/** Whether that Docket has it. */
export async function has(docket: Docket, call: Call, noun: Noun, id: string): Promise<boolean> {
  const path = `/v1/${noun}/${encodeURIComponent(id)}`;
  const { answer, value } = await read(await forward(docket, call, { method: 'GET', path }));
  if (value) return true;
  // an id that cannot be one is for the Docket to refuse
  if ([400, 404, 422].includes(answer.status)) return false;
  throw new Problem(
    'unavailable',
    `Docket ${docket.name} does not say whether it has ${id}: it answers ${answer.status}`,
  );
}

async function isMissing(answer: Response): Promise<boolean> {
  if (answer.status !== 404) return false;
  return ((await answer.clone().json()) as { code?: string }).code === 'not_found';
}

/** A call about one item, for the Docket that has it. */
export async function oneItem(places: Places, locator: Locator, call: Call, noun: Noun, id: string): Promise<Response> {
  let last: Response | undefined;
  for (const docket of locator.order(places, noun, id)) {
    last = await forward(docket, call);
    if (await isMissing(last)) continue;
    locator.learn(noun, id, docket);
    return last;
  }
  return last as Response;
}

/** @throws Problem 422 where the ticket and the queue are on different Dockets */
export async function transfer(places: Places, locator: Locator, call: Call, id: string): Promise<Response> {
  const queue = bodyOf(call)?.queue;
  if (typeof queue !== 'string') return oneItem(places, locator, call, 'tickets', id);
  const { to } = places.of(`queue/${queue}`);
  const answer = await forward(to, call);
  if (!(await isMissing(answer))) return answer;
  for (const docket of places.all)
    if (docket.name !== to.name && (await has(docket, call, 'tickets', id)))
      throw invalid(
        'queue',
        `${queue} is on Docket ${to.name}, and this ticket on ${docket.name}: it cannot be moved there`,
      );
  return answer;
}

/** A line of a batch's results. */
interface Line {
  code?: string;
}

/**
 * A batch about items that exist: all of it at the first Docket, then at the next what that one does not have.
 * @param entries what the call names them by, and how the body looks with some of them
 */
export async function manyItems(
  places: Places,
  call: Call,
  entries: unknown[],
  bodyWith: (some: unknown[]) => unknown,
): Promise<Response> {
  const results: unknown[] = [];
  let left = entries.map((_, n) => n);
  for (const docket of places.all) {
    const answered = await read(await forward(docket, call, { body: bodyWith(left.map((n) => entries[n])) }));
    const lines = answered.value?.results;
    if (!Array.isArray(lines)) return answered.answer;
    for (const [k, n] of left.entries()) results[n] = lines[k];
    left = left.filter((n) => (results[n] as Line).code === 'not_found');
    if (left.length === 0 || docket === places.all.at(-1)) return withValue(answered, summed(answered.value, results));
  }
  throw new Error('there are no Dockets');
}

/** As the Docket would have answered for all; batches of jobs also say whether all went well. */
export const summed = (value: Record<string, unknown> | undefined, results: unknown[]) => ({
  ...value,
  ...(value && 'success' in value && { success: results.every((r) => (r as { success?: boolean }).success) }),
  results,
});
