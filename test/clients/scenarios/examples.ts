import { expect, test } from 'vitest';
import { eventually } from '../../support/client.ts';
import { lastingPort } from '../../support/ports.ts';
import { SECRET } from '../../support/receiver.ts';
import type { TestSystem } from '../../support/system.ts';
import { type Example, ended, type Program, runExample } from '../driver.ts';
import type { Kit } from '../kits.ts';
import { send } from './callbacks.ts';

/** What an example brings about, as the feed says it: kind and type of an event. */
const EFFECTS: [string, Example, string][] = [
  ['S3.5', 'jobs', 'job/finished'],
  ['S4.5', 'tasks', 'task/completed'],
  ['S0.8', 'tickets', 'ticket/decided'],
  ['S2.2', 'cases', 'case/decided'],
  ['S1.1', 'reviews', 'review/applied'],
];

/** The README's examples as they stand there, each of them twice, and all on one system. */
export function testExamples({ api }: TestSystem, kit: Kit): void {
  const countOf = async (effect: string): Promise<number> => {
    let [count, after] = [0, 0];
    for (let isEnd = false; !isEnd; ) {
      const lines = (await api.get(`/v1/feed?after=${after}&limit=10000`)).body.split('\n').filter(Boolean);
      const events = lines.map((line: string) => JSON.parse(line));
      count += events.filter(({ kind, type }: Record<string, string>) => `${kind}/${type}` === effect).length;
      after = events.at(-1)?.seq ?? after;
      isEnd = events.length === 0;
    }
    return count;
  };
  const env = { DOCKET_SERVERS: api.url };
  const printed = (program: Program) => eventually(async () => /\S.*\n/.test(program.output()));

  test.each(EFFECTS)("%s the README's example of %s works word for word, and again", async (_, of, effect) => {
    for (let run = 0; run < 2; run++) {
      const before = await countOf(effect);
      const example = runExample(kit, of, env);
      await eventually(async () => (await countOf(effect)) > before, 30_000);
      await printed(example);
      // that one ends by itself
      if (of === 'reviews') expect(await example.exited).toBe(0);
      else await ended(example);
      expect(example.errors()).toBe('');
    }
  });

  test("S0.4 the README's example of streams works word for word, and again", async () => {
    for (let run = 0; run < 2; run++) {
      const example = runExample(kit, 'streams', env);
      await printed(example);
      await ended(example);
      expect(example.errors()).toBe('');
    }
  });

  test("S0.10 the README's example of callbacks works word for word", async () => {
    const port = await lastingPort();
    const example = runExample(kit, 'callbacks', { ...env, PORT: String(port), DOCKET_CALLBACK_SECRET: SECRET });
    const url = `http://127.0.0.1:${port}/`;
    const message = (version: number) => ({
      ...{ type: 'ticket.decided', version },
      ticket: { id: 'readme-ticket', queue: 'q', state: 'decided', decision: 'ok' },
    });
    const answered = async (...args: Parameters<typeof send>) => (await send(...args).catch(() => [0]))[0];
    await eventually(async () => (await answered(url, message(1))) === 204);
    const wrong = `whsec_${Buffer.from('another secret of thirty-two b..').toString('base64')}`;
    expect(await answered(url, message(2), { secret: wrong })).toBe(401);
    expect(await answered(url, message(2))).toBe(204);
    expect(await answered(url, message(2))).toBe(204);
    await eventually(async () => (example.output().match(/readme-ticket/g) ?? []).length === 2);
    example.process.kill('SIGTERM');
    await example.exited;
  });
}
