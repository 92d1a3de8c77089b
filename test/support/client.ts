import * as cases from './cases.ts';
import { type Http, http } from './http.ts';
import * as jobs from './jobs.ts';
import * as reviews from './reviews.ts';
import * as tasks from './tasks.ts';
import * as tickets from './tickets.ts';

export * from './http.ts';

const KINDS = { tickets, cases, tasks, reviews, jobs };

type Bound<Call> = Call extends (client: Http, ...rest: infer R) => infer T ? (...rest: R) => T : Call;
type Kinds = { [K in keyof typeof KINDS]: { [C in keyof (typeof KINDS)[K]]: Bound<(typeof KINDS)[K][C]> } };

/** A client with the calls of each kind, as `tickets.ts` and the others have them. */
export interface Client extends Http, Kinds {
  /** The same server with an API key. */
  as(key: string): Client;
  /** The same without a look at the OpenAPI document, which has no answer to faults: 500. */
  unchecked(): Client;
}

const bind = (calls: object, client: Http) =>
  Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, call.bind(null, client)]));

export function api(url: string, key?: string, isChecked = true): Client {
  const client = http(url, key, isChecked);
  const kinds = Object.entries(KINDS).map(([kind, calls]) => [kind, bind(calls, client)]);
  return {
    ...client,
    ...(Object.fromEntries(kinds) as Kinds),
    as: (other) => api(url, other, isChecked),
    unchecked: () => api(url, key, false),
  };
}
