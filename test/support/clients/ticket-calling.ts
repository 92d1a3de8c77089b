import { expect, test } from 'vitest';
import type { TestSystem } from '../system.ts';
import type { Kit } from './kits.ts';
import { runProgram } from './running.ts';

/** Each call, and lists that no single call takes. */
export function testTicketCalls({ api }: TestSystem, kit: Kit): void {
  test('S0.2 S0.4 S0.7 S0.8 S0.9 what is asked of tickets is answered, and what is refused has a type', async () => {
    const queue = 'ticket-calls';
    const program = runProgram(kit, 'ticketCalls', { servers: [api.url], queue });
    expect(await program.exited, program.output()).toBe(0);
    const id = (n: number) => `${queue}-${n}`;
    const body = { a: [1, 'ä', null] };
    expect(JSON.parse(program.output())).toEqual({
      settings: 3,
      added: [
        [id(1), body],
        [id(1), body],
      ],
      same: true,
      unnamed: 'no id',
      mixed: [
        [id(2), 201],
        ['not a name', 422],
        [id(3), 201],
      ],
      held: [
        [id(1), false, 'rita'],
        [id(2), false, 'rita'],
      ],
      renewed: true,
      decided: ['decided', { ok: true }, id(3)],
      again: true,
      released: 'waiting',
      lost: ['LeaseLost', 'lease_lost', 'released', null, 'string'],
      closed: ['NotOpen', 'not_open', 'decided', 'rita', 'settled'],
      none: [[id(2), expect.any(String)], null],
      empty: [[], 0, true],
      changed: [9, ['math'], 'changed'],
      moved: [`${queue}-other`, 'waiting'],
      resolved: ['decided', 'no', 'known'],
      invalidated: ['invalidated', 'gone'],
      open: ['NotOpen', 'decided'],
      events: ['created', 'claimed', 'decided'],
      bulk: 1005,
      inOrder: true,
      large: 45,
      listed: 1005,
      conflict: 'Http id_conflict',
      missing: 'Http not_found',
      key: 'Auth',
      down: 'Unavailable',
    });
  });
}
