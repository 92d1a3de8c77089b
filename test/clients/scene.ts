import { beforeAll, test } from 'vitest';
import type { TestSystem } from '../support/system.ts';
import { addTemplate } from '../support/tasks.ts';
import { type Connected, connect, type Loop, type Options, type Program, run } from './driver.ts';
import type { Kit } from './kits.ts';

/** A language's client and the systems that its programs call. */
export interface Scene extends TestSystem {
  kit: Kit;
  /** A system without a worker, for items that are added by the thousand and never worked on. */
  idle: TestSystem;
  /** A client in a program of its own; of the system, unless it is given other servers. */
  connect(client?: Partial<Options>): Connected;
  /** Runs a loop, a stream or a feed's reader in a program of its own. */
  run(what: Loop, asked: Partial<Options> & Record<string, unknown>): Program;
}

/** Tests by their titles. */
export type Scenarios = Record<string, (scene: Scene) => Promise<void>>;

/** For programs that start on a busy machine, each with its wait. */
const TIMEOUT_MS = 120_000;

/** Tests what each client must do, whatever its language. */
export function testScenarios(system: TestSystem, idle: TestSystem, kit: Kit, scenarios: Scenarios): Scene {
  const scene: Scene = {
    ...{ ...system, kit, idle },
    connect: (client) => connect(kit, { servers: [system.api.url], ...client }),
    run: (what, asked) => run(kit, what, { servers: [system.api.url], ...asked }),
  };
  beforeAll(async () => {
    const [number, text] = ['number', 'string'].map((type) => ({ type, required: false }));
    await addTemplate(system.api, 'work', { seconds: number, failures: number, fail: text });
  });
  for (const [title, scenario] of Object.entries(scenarios)) test(title, () => scenario(scene), TIMEOUT_MS);
  return scene;
}
