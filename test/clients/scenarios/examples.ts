import { expect } from 'vitest';
import { eventually } from '../../support/client.ts';
import { wholeFeed } from '../../support/feed.ts';
import { lastingPort } from '../../support/ports.ts';
import { SECRET } from '../../support/receiver.ts';
import { type Example, ended, type Program, runExample } from '../driver.ts';
import type { Scenarios, Scene } from '../scene.ts';
import { OTHER_SECRET, send } from './callbacks.ts';

const hasPrinted = (program: Program) => eventually(async () => /\S.*\n/.test(program.output()));

/** @param effect kind and type of an event that the example brings about */
const works =
  (of: Example, effect?: string): Scenarios[string] =>
  async ({ api, kit }) => {
    const effects = async () => (await wholeFeed(api)).filter(({ kind, type }) => `${kind}/${type}` === effect).length;
    for (let run = 0; run < 2; run++) {
      const before = await effects();
      const example = runExample(kit, of, { DOCKET_SERVERS: api.url });
      if (effect) await eventually(async () => (await effects()) > before, 30_000);
      await hasPrinted(example);
      // that one ends by itself
      if (of === 'reviews') expect(await example.exited).toBe(0);
      else await ended(example);
      expect(example.errors()).toBe('');
    }
  };

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

/** The README's examples as they stand there, most of them twice, and all on one system. */
export const examples: Scenarios = {
  "S3.5 the README's example of jobs works word for word, and again": works('jobs', 'job/finished'),
  "S4.5 the README's example of tasks works word for word, and again": works('tasks', 'task/completed'),
  "S0.8 the README's example of tickets works word for word, and again": works('tickets', 'ticket/decided'),
  "S2.2 the README's example of cases works word for word, and again": works('cases', 'case/decided'),
  "S1.1 the README's example of reviews works word for word, and again": works('reviews', 'review/applied'),
  "S0.4 the README's example of streams works word for word, and again": works('streams'),
  "S0.10 the README's example of callbacks works word for word": receives,
};
