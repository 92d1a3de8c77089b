import { afterAll, beforeAll, expect } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../contract/problems.ts';
import type { Reply } from './client.ts';
import type { TestSystem } from './system.ts';

/**
 * What every answer that is an error looks like, whatever was sent.
 * @param what names the call in a failure
 * @param expected its code, or its status
 */
export function expectProblem(reply: Reply, what: string, expected?: ProblemCode | number): void {
  const said = `${what} → ${reply.status} ${JSON.stringify(reply.body).slice(0, 300)}`;
  expect(reply.status, said).toBeGreaterThanOrEqual(400);
  expect(reply.status, said).toBeLessThan(500);
  if (typeof expected === 'number') expect(reply.status, said).toBe(expected);
  else if (expected) expect([reply.status, reply.body.code], said).toEqual([PROBLEMS[expected].status, expected]);
  expect(reply.headers.get('content-type'), said).toContain('application/problem+json');
  const { status } = PROBLEMS[reply.body.code as ProblemCode] ?? {};
  // a body that is no JSON is an invalid request with a status of its own
  if (reply.status !== 400 || reply.body.code !== 'invalid_request') expect(reply.status, said).toBe(status);
  expect(reply.body, said).toMatchObject({ type: expect.any(String), title: expect.any(String), status: reply.status });
  expect(reply.body.detail, said).toEqual(expect.any(String));
  expect(reply.body.requestId, said).toBe(reply.headers.get('x-request-id'));
  if (reply.body.code !== 'invalid_request') return;
  expect(reply.body.errors?.length, said).toBeGreaterThan(0);
  for (const error of reply.body.errors)
    expect(error, said).toEqual({ path: expect.any(String), message: expect.any(String) });
}

/** Everything that a refused call must leave alone. */
const TABLES = 'item lease event queue notice parked delivery operator_command api_key stream_ticket'.split(' ');

/** One hash per table, and the sums of the counts. Their rows are compacted by themselves, and counted on then as kinds of their own. */
export async function digestOf(sql: TestSystem['sql']): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const table of TABLES) {
    const [row] = await sql<{ hash: string }>(
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash from ${table} t`,
    );
    found[table] = row?.hash ?? '';
  }
  const sums = await sql(
    "select kind, queue, what, sum(n) as n from tally where what <> 'granted' and kind not like 'counted/%' group by 1, 2, 3 having sum(n) <> 0 order by 1, 2, 3",
  );
  return { ...found, tally: JSON.stringify(sums) };
}

/** Fails a file or a group of tests after which the database is not as before. */
export function expectNoChanges(sql: TestSystem['sql']): void {
  let before: Record<string, string> = {};
  beforeAll(async () => {
    before = await digestOf(sql);
  });
  afterAll(async () => {
    expect(await digestOf(sql)).toEqual(before);
  });
}
