import { setTimeout as sleep } from 'node:timers/promises';
import { isConflict } from '../../db/pool.ts';
import { isUnavailable } from './service.ts';
import { one } from './sets.ts';

interface Waiting<In, Out> {
  input: In;
  end(outcome: Out | Error): void;
}

export interface SharingOptions<In> {
  /** What must be in one statement once only: items, tokens, persons. */
  keys(input: In): string[];
  max?: number;
}

/**
 * Lets concurrent calls share a statement: those that come together, and those that come while a statement is
 * running. With one caller nothing changes; with 128 it saves 127 round trips and commits. A statement that fails is
 * repeated in halves until only the bad input fails; a lost server fails all calls.
 * @param run answers as many outputs as it gets inputs, in their order
 * @returns takes the inputs of a call, one or more. An Error is the outcome of its input only
 */
export function shareSets<In, Out>(
  run: (inputs: In[]) => Promise<Out[]>,
  { keys, max = 128 }: SharingOptions<In>,
): (inputs: In[]) => Promise<(Out | Error)[]> {
  let waiting: Waiting<In, Out>[] = [];
  let busy = false;

  const take = (): Waiting<In, Out>[] => {
    const taken = new Set<string>();
    const batch: Waiting<In, Out>[] = [];
    const left: Waiting<In, Out>[] = [];
    for (const each of waiting) {
      const own = keys(each.input);
      if (batch.length < max && !own.some((k) => taken.has(k))) batch.push(each);
      else left.push(each);
      for (const key of own) taken.add(key);
    }
    waiting = left;
    return batch;
  };

  const attempt = async (batch: Waiting<In, Out>[], again = true): Promise<void> => {
    try {
      const outputs = await run(batch.map(({ input }) => input));
      for (const [n, { end }] of batch.entries()) end(outputs[n] as Out);
    } catch (error) {
      const hopeless = isUnavailable(error) || (batch.length === 1 && !(again && isConflict(error)));
      if (hopeless) {
        for (const { end } of batch) end(error as Error);
        return;
      }
      const half = Math.ceil(batch.length / 2);
      await attempt(batch.slice(0, half), batch.length > 1);
      if (half < batch.length) await attempt(batch.slice(half));
    }
  };

  const work = async () => {
    while (waiting.length > 0) await attempt(take());
    busy = false;
  };

  return (inputs) =>
    new Promise((done) => {
      const outcomes: (Out | Error)[] = [];
      let left = inputs.length;
      for (const [n, input] of inputs.entries()) {
        const end = (outcome: Out | Error) => {
          outcomes[n] = outcome;
          if (--left === 0) done(outcomes);
        };
        waiting.push({ input, end });
      }
      if (busy) return;
      busy = true;
      // not at once: calls of other connections that come with it share its first statement
      setImmediate(() => void work());
    });
}

const single =
  <In, Out>(shared: (inputs: In[]) => Promise<(Out | Error)[]>) =>
  async (input: In) =>
    one(await shared([input]));

/** The same for calls of one input each. */
export const share = <In, Out>(
  run: (inputs: In[]) => Promise<Out[]>,
  options: SharingOptions<In>,
): ((input: In) => Promise<Out>) => single(shareSets(run, options));

interface RowSharingOptions<In, Row> extends SharingOptions<In> {
  /** The key of a call. */
  call(input: In): unknown;
  /** The key of a row. */
  row(row: Row): unknown;
}

/** As `shareSets`, for a statement that answers with rows: each input gets the row with its key, or undefined. */
export const shareRowSets = <In, Row>(
  run: (inputs: In[]) => Promise<Row[]>,
  { call, row: keyOf, ...options }: RowSharingOptions<NoInfer<In>, NoInfer<Row>>,
) =>
  shareSets<In, Row | undefined>(async (inputs) => {
    const rows = new Map((await run(inputs)).map((row) => [keyOf(row), row]));
    return inputs.map((input) => rows.get(call(input)));
  }, options);

/** The same for calls of one input each. */
export const shareRows = <In, Row>(
  run: (inputs: In[]) => Promise<Row[]>,
  options: RowSharingOptions<NoInfer<In>, NoInfer<Row>>,
): ((input: In) => Promise<Row | undefined>) => single(shareRowSets(run, options));

/** The keys of calls about one item each, whose rows have its id. */
export const BY_ID = {
  call: ({ id }: { id: string }) => id,
  row: ({ id }: { id: string }) => id,
  keys: ({ id }: { id: string }) => [id],
};

/**
 * Shared statements of which each serves one group, such as a queue. A group is remembered only while it has callers,
 * who choose its name and may choose as many names as they like.
 */
export function sharePerGroup<In, Out, Group extends string = string>(
  make: (group: Group) => (input: In) => Promise<Out>,
) {
  const groups = new Map<Group, { shared: (input: In) => Promise<Out>; callers: number }>();
  return async (name: Group, input: In): Promise<Out> => {
    const group = groups.get(name) ?? { shared: make(name), callers: 0 };
    groups.set(name, group);
    group.callers++;
    try {
      return await group.shared(input);
    } finally {
      group.callers--;
      if (group.callers === 0) groups.delete(name);
    }
  };
}

/** Works through `all` in batches, one after the other. @returns all results, in order */
export async function inBatches<T, R>(all: T[], most: number, work: (batch: T[]) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (const batch of batchesOf(all, most)) results.push(...(await work(batch)));
  return results;
}

export const batchesOf = <T>(all: T[], most: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, n) => all.slice(n * most, (n + 1) * most));

/**
 * All rows of a statement that resumes after a row, a page at a time.
 * @param read the page after this row; undefined: the first one
 * @param size a page of fewer rows is the last
 */
export async function* pagesOf<Row>(read: (last: Row | undefined) => Promise<Row[]>, size = 1): AsyncGenerator<Row[]> {
  for (let rows: Row[] = []; ; ) {
    rows = await read(rows.at(-1));
    if (rows.length > 0) yield rows;
    if (rows.length < size) return;
  }
}

export interface Retry {
  tries: number;
  /** The n-th pause is a random part of n times this, in milliseconds, … */
  stepMs: number;
  /** … and of this at most. */
  mostMs: number;
}

/**
 * Asks again shortly while what is asked for is locked by others, so that no caller waits under a lock.
 * @returns the last answer, which may still be that it is locked
 */
export async function whileBusy<T>(
  ask: () => Promise<T>,
  isBusy: (answer: T) => boolean,
  { tries, stepMs, mostMs }: Retry,
): Promise<T> {
  for (let n = 1; ; n++) {
    const answer = await ask();
    if (!isBusy(answer) || n === tries) return answer;
    await sleep(Math.random() * Math.min(mostMs, stepMs * n));
  }
}
