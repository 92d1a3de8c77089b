import type pg from 'pg';
import type { Statement } from '../../db/load.ts';

const WRITES =
  /\b(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?(?:public\.)?item\b|\binsert\s+into\s+review_callback\b/i;

/** The functions of schema "public" and their texts; those of one name are one. */
export async function functionTexts(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; text: string }>(
    `select proname as name, string_agg(pg_get_functiondef(oid), E'\\n') as text
       from pg_proc where pronamespace = 'public'::regnamespace and prokind in ('f', 'p') group by proname`,
  );
  return new Map(rows.map((r) => [r.name, r.text]));
}

/**
 * Statements that change rows of `item` or keep callbacks of reviews, themselves or through functions, and are not marked so,
 * or the reverse.
 */
export function wrongMarks(statements: Iterable<Statement>, functions: Map<string, string>): string[] {
  const moving = new Set<string>();
  const moves = (text: string) => {
    const code = text.replaceAll(/--.*/g, '');
    return WRITES.test(code) || [...code.matchAll(/\b(\w+)\s*\(/g)].some(([, called = '']) => moving.has(called));
  };
  for (let before = -1; before < moving.size; ) {
    before = moving.size;
    for (const [name, text] of functions) if (!moving.has(name) && moves(text)) moving.add(name);
  }
  return [...statements].flatMap((s) => {
    if (moves(s.text) === s.moves) return [];
    return s.moves
      ? [`${s.name} changes no item or review: take its mark :moves away`]
      : [`${s.name} changes items or reviews: mark it :moves`];
  });
}
