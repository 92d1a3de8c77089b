import { invalid, Problem } from '../services/shared/problems.ts';
import { type Call, forward, read, withValue } from './forward.ts';
import { has, type Noun, summed } from './items.ts';
import type { Docket, Places, Scope } from './places.ts';

export type Entry = Record<string, unknown>;

/** How items of a kind are added. */
export interface Adding {
  noun: Noun;
  /** The id by which a repeat is known; undefined: it has none. */
  idOf(entry: Entry): string | undefined;
  /** Undefined: it does not say, which a Docket will refuse. */
  scopeOf(entry: Entry): Scope | undefined;
  /** The line of an entry that the router refuses, or whose Docket refused all. */
  lineOf(entry: unknown, problem: Pick<Problem, 'status' | 'code' | 'message'>): unknown;
}

const AT_ONCE = 16;

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Where an entry is added: where its queue, topic or court is, or from where that is being moved if its id is there.
 * @throws Problem `unavailable` while moving is prepared, 422 for an outcome that would go to a review elsewhere
 */
async function placeOf(places: Places, call: Call, adding: Adding, entry: unknown): Promise<Docket> {
  const scope = isEntry(entry) ? adding.scopeOf(entry) : undefined;
  if (!isEntry(entry) || !scope) return places.any;
  const { to, from } = places.of(scope);
  if (from && places.hold) throw new Problem('unavailable', `${scope} is about to be moved: repeat the call`);
  const id = from && adding.idOf(entry);
  const docket = from && id !== undefined && (await has(from, call, adding.noun, id)) ? from : to;
  if (isEntry(entry.callback) && 'review' in entry.callback && docket.name !== places.reviews.name)
    throw invalid('callback', `${scope} is on Docket ${docket.name}, and reviews are on ${places.reviews.name}`);
  return docket;
}

export async function addTo(places: Places, call: Call, adding: Adding, entry: Entry): Promise<Response> {
  return forward(await placeOf(places, call, adding, entry), call);
}

/**
 * A batch, each entry at its Docket. What one Docket refuses as a whole, or cannot be reached for, fails for its entries only.
 * @param bodyWith how the body looks with some of the entries
 */
export async function addMany(
  places: Places,
  call: Call,
  adding: Adding,
  entries: unknown[],
  bodyWith: (some: unknown[]) => unknown,
): Promise<Response> {
  const results: unknown[] = [];
  const shares = new Map<Docket, number[]>();
  const place = async (n: number) => {
    try {
      const docket = await placeOf(places, call, adding, entries[n]);
      shares.set(docket, [...(shares.get(docket) ?? []), n]);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'invalid_request') throw error;
      results[n] = adding.lineOf(entries[n], error);
    }
  };
  for (let from = 0; from < entries.length; from += AT_ONCE)
    await Promise.all(entries.slice(from, from + AT_ONCE).map((_, k) => place(from + k)));
  if (shares.size === 1 && results.length === 0) return forward([...shares.keys()][0] as Docket, call);
  const answers = await Promise.all(
    [...shares].map(async ([docket, numbers]) => {
      numbers.sort((a, b) => a - b);
      const answered = await read(await forward(docket, call, { body: bodyWith(numbers.map((n) => entries[n])) }));
      const lines = answered.value?.results;
      const problem = Array.isArray(lines) ? undefined : await problemOf(answered.answer.clone());
      for (const [k, n] of numbers.entries())
        results[n] = problem ? adding.lineOf(entries[n], problem) : (lines as unknown[])[k];
      return answered;
    }),
  );
  const done = answers.find(({ value }) => value) ?? answers[0];
  if (!done?.value) return done?.answer ?? new Response(JSON.stringify(summed({}, results)), JSON_200);
  return withValue(done, summed(done.value, results));
}

const JSON_200 = { status: 200, headers: { 'content-type': 'application/json' } };

async function problemOf(answer: Response) {
  const { code = 'unavailable', detail, error } = (await answer.json()) as Record<string, string>;
  return {
    status: answer.status,
    code: code as Problem['code'],
    message: detail ?? error ?? `status ${answer.status}`,
  };
}
