import { addCases, court, jurors } from '../../support/cases.ts';
import { type Client, eventually, type Json, repeat } from '../../support/client.ts';
import { addTask, dispatchLog } from '../../support/tasks.ts';
import { addMany, configure } from '../../support/tickets.ts';
import { inMs } from '../../support/times.ts';
import { ended, type Loop, type Program } from '../driver.ts';
import type { Scenarios, Scene } from '../scene.ts';
import type { Call } from '../stand-ins.ts';

/** What a loop works on. What is prepared under a name is alone in its topic, user, queue or court. */
interface Kind {
  loop: Loop;
  /** Adds an item for each body. @returns their ids, in the order in which they are handed out */
  prepare(api: Client, name: string, bodies: object[], settings?: object): Promise<string[]>;
  /** A loop's options for what was prepared under the name. */
  options(name: string, person: string): object;
  /** Types of an item's events. */
  history(api: Client, id: string): Promise<string[]>;
  /** The history of an item that was handed out once. */
  doneOnce: string[];
  /** How a handler sees its first and its second attempt. */
  attempts: [object, object];
  /** Whether a call ends the hold of an item. */
  ends(call: Call, id: string): boolean;
}

const idsOf = (name: string, bodies: object[]) => repeat(bodies.length, (n) => `${name}-${n}`);
const typesIn = async (api: Client, path: string): Promise<string[]> =>
  (await api.get(`${path}/events?limit=500`)).body.items.map(({ type }: Json) => type);

const job: Kind = {
  loop: 'Consumer',
  async prepare(api, topic, bodies, { leaseSeconds: TTR }: { leaseSeconds?: number } = {}) {
    const ids = idsOf(topic, bodies);
    const jobs = bodies.map((body, n) => ({ topic, id: ids[n], TTR, body }));
    await api.post('/v1/jobs', { command: 'add', jobs });
    return ids;
  },
  options: (topics) => ({ topics }),
  history: (api, id) => typesIn(api, `/v1/jobs/${id}`),
  doneOnce: ['created', 'reserved', 'finished'],
  attempts: [{ attempt: 1 }, { attempt: 2 }],
  // a handler's result is sent all the same: its job may be back in the meantime, and nobody have it
  ends: ({ body }, id) => /"command":"(release|bury)"/.test(body) && body.includes(`"${id}"`),
};

const task: Kind = {
  loop: 'Puller',
  async prepare(api, uid, bodies, settings) {
    const ids = idsOf(uid, bodies);
    const startOf = (n: number) => inMs((n - bodies.length) * 1000);
    for (const [n, body] of bodies.entries())
      await addTask(api, {
        ...{ id: ids[n], executor: `uid_${uid}`, templateId: 'work', params: body, startTime: startOf(n) },
        ...settings,
      });
    return ids;
  },
  options: (uid) => ({ uid }),
  history: async (api, id) => (await dispatchLog(api, `taskId=${id}`)).map(({ type }) => type),
  doneOnce: ['dispatched', 'completed'],
  attempts: [{ redo: false }, { redo: true }],
  ends: ({ path }) => path.endsWith('/complete'),
};

const ticket: Kind = {
  loop: 'ReviewerLoop',
  async prepare(api, queue, bodies, settings = {}) {
    await configure(api, queue, settings);
    const ids = idsOf(queue, bodies);
    return addMany(
      api,
      queue,
      bodies.map((body, n) => ({ id: ids[n], body })),
    );
  },
  options: (queue, reviewer) => ({ queue, reviewer }),
  history: (api, id) => typesIn(api, `/v1/tickets/${id}`),
  doneOnce: ['created', 'claimed', 'decided'],
  attempts: [{ attempt: 1 }, { attempt: 2 }],
  ends: ({ path }, id) => new RegExp(`/${id}/(decide|release)$`).test(path),
};

const courtCase: Kind = {
  loop: 'JurorLoop',
  /** @param settings also the court's `jurors` */
  async prepare(api, name, bodies, { jurors: all = ['ada', 'bob'], ...settings }: { jurors?: string[] } = {}) {
    await court(api, name, { votesToWin: 1, ...settings });
    await jurors(api, name, all);
    const ids = idsOf(name, bodies);
    await addCases(
      api,
      name,
      bodies.map((body, n) => ({ id: ids[n], body })),
    );
    return ids;
  },
  options: (name, juror) => ({ court: name, juror }),
  history: (api, id) => typesIn(api, `/v1/cases/${id}`),
  doneOnce: ['created', 'claimed', 'voted', 'decided'],
  attempts: [{}, {}],
  ends: ({ path }, id) => new RegExp(`/${id}/(votes|release)$`).test(path),
};

const KINDS = { job, task, ticket, case: courtCase };
export type KindName = keyof typeof KINDS;

/** Loops of one kind in a scene. */
export interface Work extends Scene {
  prepare(name: string, bodies: object[], settings?: object): Promise<string[]>;
  /** Runs a loop on what was prepared under the name. @param more also `person`, for whom it works */
  start(name: string, more?: Record<string, unknown>): Program;
  /** Runs such a loop until these are done. */
  work(name: string, ids: string[], more?: Record<string, unknown>): Promise<Program>;
  history(id: string): Promise<string[]>;
  /** Waits until all of these are done. */
  done(ids: string[]): Promise<unknown>;
  kind: Kind;
}

/** Loops of a kind in a scene: jobs and tickets that have no callback need no worker. */
export function workOf(all: Scene, name: KindName): Work {
  const kind: Kind = KINDS[name];
  const scene = { ...all, ...(name === 'job' || name === 'ticket' ? all.idle : {}) };
  const history = (id: string) => kind.history(scene.api, id);
  const last = kind.doneOnce.at(-1) ?? '';
  const start: Work['start'] = (name, { person = 'ada', ...more } = {}) =>
    scene.run(kind.loop, { ...kind.options(name, String(person)), ...more });
  const done = (ids: string[]) => {
    const left = [...ids];
    return eventually(async () => {
      while (left.length > 0 && (await history(left.at(-1) ?? '')).includes(last)) left.pop();
      return left.length === 0;
    }, 60_000);
  };
  return {
    ...{ ...scene, kind, history, start, done },
    prepare: (name, bodies, settings) => kind.prepare(scene.api, name, bodies, settings),
    async work(name, ids, more) {
      const loop = start(name, more);
      await done(ids);
      await ended(loop);
      return loop;
    },
  };
}

export type WorkScenario = (work: Work) => Promise<void>;

/** Scenarios of one kind, by their titles. */
export const scenariosOf = (name: KindName, scenarios: Record<string, WorkScenario>): Scenarios =>
  Object.fromEntries(
    Object.entries(scenarios).map(([title, run]) => [title, (scene: Scene) => run(workOf(scene, name))]),
  );

/** A scenario that several kinds have, tried with all of them at once: most of it is waiting. */
export const alike = (title: string, names: KindName[], run: WorkScenario): Scenarios => ({
  [title]: async (scene) => void (await Promise.all(names.map((name) => run(workOf(scene, name))))),
});
