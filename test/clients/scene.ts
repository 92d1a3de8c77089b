import { beforeAll, test } from 'vitest';
import type { TestSystem } from '../support/system.ts';
import { addTemplate } from '../support/tasks.ts';
import { type Connected, connect, type Loop, type Options, type Program, run } from './driver.ts';
import type { Kit } from './kits.ts';

/** A language's client and a system that its programs call. */
interface Stage extends TestSystem {
  kit: Kit;
  /** A client in a program of its own; of the system, unless it is given other servers. */
  connect(client?: Partial<Options>): Connected;
  /** Runs a loop, a stream or a feed's reader in a program of its own. */
  run(what: Loop, asked: Partial<Options> & Record<string, unknown>): Program;
}

/** The whole of Docket, and beside it one without a worker: what needs no workflow costs a fraction there. */
export interface Scene extends Stage {
  idle: Stage;
}

/** Tests by their titles. */
export type Scenarios = Record<string, (scene: Scene) => Promise<void>>;

/** For programs that start on a busy machine, each with its wait. */
const TIMEOUT_MS = 120_000;

/** Tests what each client must do, whatever its language. */
export function testScenarios(system: TestSystem, idle: TestSystem, kit: Kit, scenarios: Scenarios): Scene {
  const on = (called: TestSystem): Stage => ({
    ...{ ...called, kit },
    connect: (client) => connect(kit, { servers: [called.api.url], ...client }),
    run: (what, asked) => run(kit, what, { servers: [called.api.url], ...asked }),
  });
  const scene = { ...on(system), idle: on(idle) };
  beforeAll(async () => {
    const [number, text] = ['number', 'string'].map((type) => ({ type, required: false }));
    await addTemplate(system.api, 'work', { seconds: number, failures: number, fail: text });
  });
  for (const [title, scenario] of Object.entries(scenarios)) test(title, () => scenario(scene), TIMEOUT_MS);
  return scene;
}
