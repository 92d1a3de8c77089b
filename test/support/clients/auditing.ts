import { expect, test } from 'vitest';
import { logOf, put } from '../reviews.ts';
import type { TestSystem } from '../system.ts';
import type { Kit } from './kits.ts';
import { runProgram } from './running.ts';
import { forgetful } from './stand-ins.ts';

/** What each client does with reviews, whatever its language. */
export function testAuditor({ api }: TestSystem, kit: Kit): void {
  test('S1.1 S1.3 S1.6 what is asked of reviews is answered, and what is refused has a type', async () => {
    const program = runProgram(kit, 'reviewCalls', { servers: [api.url], prefix: 'calls' });
    expect(await program.exited, program.output()).toBe(0);
    expect(JSON.parse(program.output())).toEqual({
      put: ['calls-review', 0, { a: [1, 'ä', null] }],
      text: ['applied', true],
      expired: 'expired',
      applied: 'applied',
      duplicate: ['duplicate', 'applied'],
      picture: 'applied',
      last: 'applied',
      edited: [100, [7]],
      got: true,
      log: [107, 'edit', 107],
      missing: 'Http not_found',
      invalid: 'Http invalid_request',
    });
  });

  test('S1.6 a callback whose answer was lost is sent again, and is no second callback', async () => {
    await put(api, 'lost-callback', { text: { status: 0 } });
    const server = await forgetful(api.url, (call) => call.path.endsWith('/callbacks'));
    const program = runProgram(kit, 'audit', { servers: [server.url], review: 'lost-callback', count: 3 });
    expect(await program.exited, program.output()).toBe(0);
    expect(program.lines('outcomes')).toEqual([{ outcomes: ['applied', 'applied', 'applied'] }]);
    expect(server.calls).toHaveLength(6);
    const log = await logOf(api, 'lost-callback');
    expect(log.filter((line) => line.outcome === 'applied').map((line) => line.status)).toEqual([1, 2, 3]);
  });
}
