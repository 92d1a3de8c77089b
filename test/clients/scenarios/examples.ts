import { expect } from 'vitest';
import { eventually } from '../../support/client.ts';
import { wholeFeed } from '../../support/feed.ts';
import { lastingPort } from '../../support/ports.ts';
import { SECRET } from '../../support/receiver.ts';
import { type Example, ended, type Program, runExample } from '../driver.ts';
import type { Scenarios, Scene } from '../scene.ts';
import { OTHER_SECRET, send } from './callbacks.ts';

const hasPrinted = (program: Program) => eventually(async () => /\S.*\n/.test(program.output()));

/** Runs an example twice. @param effect kind and type of an event that it brings about */
async function works({ api, kit }: Scene, of: Example, effect?: string): Promise<void> {
  const effects = async () => (await wholeFeed(api)).filter(({ kind, type }) => `${kind}/${type}` === effect).length;
  for (let run = 0; run < 2; run++) {
    const before = await effects();
    const example = runExample(kit, of, { DOCKET_SERVERS: api.url });
    if (effect) await eventually(async () => (await effects()) > before, 30_000);
    await hasPrinted(example);
    // that one ends by itself
    if (of === 'reviews') expect(await example.exited).toBe(0);
    else await ended(example);
    expect(example.errors(), of).toBe('');
  }
}

async function receives({ api, kit }: Scene): Promise<void> {
  const port = String(await lastingPort());
  const env = { DOCKET_SERVERS: api.url, PORT: port, DOCKET_CALLBACK_SECRET: SECRET };
  const example = runExample(kit, 'callbacks', env);
  const answered = async (version: number, secret?: string) => {
    const ticket = { id: 'readme-ticket', queue: 'q', state: 'decided', decision: 'ok' };
    const message = { type: 'ticket.decided', version, ticket };
    return send(`http://127.0.0.1:${port}/`, message, secret).catch(() => 0);
  };
  await eventually(async () => (await answered(1)) === 204);
  expect(await answered(2, OTHER_SECRET)).toBe(401);
  expect(await answered(2)).toBe(204);
  expect(await answered(2)).toBe(204);
  await eventually(async () => (example.output().match(/readme-ticket/g) ?? []).length === 2);
  example.process.kill('SIGTERM');
  await example.exited;
}

const EFFECTS: [Example, effect?: string][] = [
  ['jobs', 'job/finished'],
  ['tasks', 'task/completed'],
  ['tickets', 'ticket/decided'],
  ['cases', 'case/decided'],
  ['reviews', 'review/applied'],
  ['streams'],
];

/** The README's examples as they stand there, on one system: all at once, because most of it is waiting. */
export const examples: Scenarios = {
  "S0.4 S0.8 S1.1 S2.2 S3.5 S4.5 the README's examples of jobs, tasks, tickets, cases, reviews and streams work word for word, and again":
    async (scene) => void (await Promise.all(EFFECTS.map((example) => works(scene, ...example)))),
  "S0.10 the README's example of callbacks works word for word": receives,
};
