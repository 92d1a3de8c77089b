import type { Pool, PoolClient } from 'pg';
import { expect } from 'vitest';
import type { Db } from '../../db/pool.ts';

// How statements were run: each node of their plans, with what it read.

export interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

/**
 * Listens to the sessions of a database, each of which has to be explained (`explainAll`) before its first statement counts.
 * @returns a function that gives every node of every statement that some work ran, also inside functions and triggers
 */
export function plansOf(db: Db): (work: () => Promise<unknown>, pool?: Pool) => Promise<Plan[]> {
  const notices: string[] = [];
  for (const pool of [db.pool, db.lists.pool]) {
    // an idle session is closed after ten seconds else, and the next one would report no plans
    pool.options.idleTimeoutMillis = 0;
    pool.on('connect', (client: PoolClient) => {
      client.on('notice', (notice) => notices.push(notice.message ?? ''));
    });
  }
  return async (work, pool = db.pool) => {
    notices.length = 0;
    await pool.query(`set client_min_messages = log`);
    await work();
    await pool.query(`set client_min_messages = notice`);
    const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];
    const plans = notices
      .filter((n) => n.startsWith('duration:'))
      .map((n) => JSON.parse(n.slice(n.indexOf('{'))) as { Plan: Plan });
    expect(plans.length).toBeGreaterThan(0);
    return plans.flatMap((p) => flat(p.Plan));
  };
}

/** Has the plan of each statement of these sessions reported from now on. They must be one session each. */
export async function explainAll(db: Db): Promise<void> {
  for (const pool of [db.pool, db.lists.pool])
    await pool.query(`load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
      set auto_explain.log_analyze = on; set auto_explain.log_format = json`);
}

/** Rows that a node looked at. */
export const readBy = (n: Plan) =>
  n['Actual Loops'] *
  (n['Actual Rows'] + (n['Rows Removed by Filter'] ?? 0) + (n['Rows Removed by Index Recheck'] ?? 0));

/** Where these tables are read, then by an index, and no more than so many rows are looked at or sorted by one node. */
export function expectFewRead(nodes: Plan[], tables: string[], rows: number): void {
  const said = (n: Plan) => JSON.stringify({ ...n, Plans: undefined });
  for (const n of nodes.filter((node) => node['Actual Loops'] > 0)) {
    const isOf = tables.includes(n['Relation Name'] ?? '');
    if (isOf) expect(n['Node Type'], said(n)).not.toBe('Seq Scan');
    if (n['Node Type'].includes('Sort'))
      for (const child of n.Plans ?? []) expect(child['Actual Rows'], said(n)).toBeLessThanOrEqual(rows);
    if (isOf && n['Node Type'].endsWith('Scan')) expect(readBy(n), said(n)).toBeLessThanOrEqual(rows);
  }
}

const COLUMNS = `kind, id, queue, state, rank, body, content_hash, requires, requires_key, version, created_at, available_at,
  first_available_at, wake_at, event_seq, last_event, last_actor, updated_at, lease_seconds, result, ended_at, ended_by`;
const PART = 100_000;

/** A function that adds items as they would lie there, without the history that a million of them would have: with triggers off. */
export const loader =
  (sql: (text: string) => Promise<unknown>) =>
  async (
    prefix: string,
    queue: string,
    count: number,
    more: { kind?: string; state?: string; requires?: string; wake?: string } = {},
  ): Promise<void> => {
    const end = more.state === 'settled' ? `'1', now(), 'nobody'` : 'null, null, null';
    // in parts, each of which ends in time on a slow machine
    for (let from = 1; from <= count; from += PART)
      await sql(`insert into item (${COLUMNS}) select '${more.kind ?? 'ticket'}', '${prefix}-' || n, '${queue}', '${more.state ?? 'ready'}', n, '{}', '\\x00',
      ${more.requires ?? `'{}'::text[]`}, requires_key(${more.requires ?? `'{}'::text[]`}), nextval('item_version'), now(), ${more.wake ?? 'now()'}, now(), ${more.wake ?? 'null'}, 1, 'created', 'loader', now(), 60, ${end}
      from generate_series(${from}, ${Math.min(count, from + PART - 1)}) n`);
  };
