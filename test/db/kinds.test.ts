import { expect, test } from 'vitest';
import { KINDS } from '../../contract/kinds.ts';
import type { CoreState } from '../../contract/snapshot.ts';
import { isFinal, stateWord } from '../../domain/items.ts';
import { kindOf } from '../../domain/kinds.ts';
import { connected } from '../support/database.ts';
import { testStores } from '../support/system.ts';

const { databaseUrl } = await testStores();
const client = await connected(databaseUrl);

test('db/functions/kinds.sql says what domain/kinds.ts says', async () => {
  const { rows } = await client.query(
    `select k as kind, clock_of(k) as clock, exhausted_state(k) as exhausted, overdue_state(k) as overdue, ranks_by_number(k) as "byNumber"
       from unnest($1::text[]) with ordinality as s (k, n) order by n`,
    [KINDS],
  );
  const expected = KINDS.map((kind) => {
    const { clock, exhausted, overdue, order } = kindOf(kind);
    return { kind, clock, exhausted, overdue, byNumber: order === 'number' };
  });
  expect(rows).toEqual(expected);
});

test.each(KINDS.filter((kind) => kindOf(kind).leased === 'one'))(
  'a %s ends with the word that its users know the state by',
  async (kind) => {
    const ends = (Object.keys(kindOf(kind).words) as CoreState[]).filter(isFinal);
    for (const state of ends) {
      const { rows } = await client.query('select end_event($1, $2) as event', [kind, state]);
      expect(rows[0].event).toBe(stateWord(kind, state));
    }
  },
);

test('each clock is a function of the database, and `advance` calls it', async () => {
  const clocks = [...new Set(KINDS.map((kind) => kindOf(kind).clock))].sort();
  const { rows } = await client.query(`select proname as name from pg_proc where proname = any ($1) order by 1`, [
    clocks,
  ]);
  expect(rows.map((r) => r.name)).toEqual(clocks);
  const [advance] = (await client.query(`select prosrc from pg_proc where proname = 'advance'`)).rows;
  for (const clock of clocks) expect(advance.prosrc).toContain(`${clock}(`);
});
