import { Caller, need, openCallers } from '../client.ts';

/** Of jurors, those who see a case as it is; without it no case is clear, and a rush decides none before the last vote. */
const CLEAR = 0.75;

const BATCH = 1_000;
const LIST_CHUNK = 10_000;
/** A connection that nothing was asked on for so long is opened anew: the server closes it after a few seconds. */
const IDLE_MS = 1_000;

interface Held {
  id: string;
  token: string;
}

/** A court as a juror meets it: Docket's, or the rival's. */
export interface Jury {
  claim(juror: string): Promise<Held | null>;
  vote(held: Held, juror: string, option: string): Promise<'counted' | 'decided' | 'wasted'>;
}

export const numbered = (n: number, prefix: string) => Array.from({ length: n }, (_, i) => `${prefix}${i}`);

export async function makeCourt(caller: Caller, name: string, settings: object): Promise<void> {
  need(await caller.put(`/v1/courts/${name}`, settings), 200);
}

/** As the daily list comes: in chunks, of which the last makes all of them count. */
export async function putList(caller: Caller, court: string, ids: string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += LIST_CHUNK) {
    const jurors = ids.slice(at, at + LIST_CHUNK).map((id) => ({ id }));
    const final = at + LIST_CHUNK >= ids.length;
    need(await caller.put(`/v1/courts/${court}/jurors`, { jurors, list: 'today', final }), 200);
  }
}

export async function bring(caller: Caller, court: string, ids: string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += BATCH) {
    const cases = ids.slice(at, at + BATCH).map((id) => ({ id, body: { about: 'a pair of shoes, worn once' } }));
    const { results } = need(await caller.post(`/v1/courts/${court}/cases/batch`, { cases }), 200);
    for (const { httpStatus, detail } of results) if (httpStatus !== 201) throw new Error(detail);
  }
}

/** How a juror sees a case: most are of one mind about it. */
export const opinion = (id: string, draw: number) => (clearFor(id) === draw < CLEAR ? 'buyer' : 'seller');

const clearFor = (id: string) => Number(/\d+$/.exec(id)?.[0] ?? 0) % 2 === 0;

export interface Shared {
  <T>(call: (caller: Caller) => Promise<T>): Promise<T>;
  close(): void;
}

/** Connections that many share; whoever finds none free waits in line. */
export async function openShared(url: string, n: number): Promise<Shared> {
  const free = (await openCallers(url, n)).map((caller) => ({ caller, since: performance.now() }));
  const line: ((caller: Caller) => void)[] = [];
  const use = async <T>(call: (caller: Caller) => Promise<T>): Promise<T> => {
    const idle = free.pop();
    let caller = idle?.caller ?? (await new Promise<Caller>((resolve) => void line.push(resolve)));
    if (idle && performance.now() - idle.since > IDLE_MS) {
      caller.close();
      caller = await Caller.open(url);
    }
    try {
      return await call(caller);
    } finally {
      const next = line.shift();
      if (next) next(caller);
      else free.push({ caller, since: performance.now() });
    }
  };
  return Object.assign(use, {
    close() {
      for (const { caller } of free) caller.close();
    },
  });
}
