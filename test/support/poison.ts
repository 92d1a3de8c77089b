import type { TestSystem } from './system.ts';

/**
 * Makes updates of a table fail until `heal`.
 * @param when of which rows, as a condition of SQL on `new`
 */
export async function poison(sql: TestSystem['sql'], table: 'item' | 'review_index', when = 'true') {
  await sql(`create sequence if not exists ${table}_tries;
       create or replace function poison_${table}() returns trigger language plpgsql as $$ begin
         perform nextval('${table}_tries'); raise 'made to fail'; end $$;
       create trigger poison before update on ${table} for each row when (${when}) execute function poison_${table}()`);
  return {
    /** How often it was tried. */
    tries: async () => Number((await sql(`select last_value from ${table}_tries`))[0]?.last_value),
    heal: () => sql(`drop trigger poison on ${table}`),
  };
}
