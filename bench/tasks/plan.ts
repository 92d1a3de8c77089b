import type { Plan } from '../../test/support/plans.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { ms, quantile } from '../stats.ts';
import { isIdle, membersOf, type Population } from './population.ts';

const CLIENTS = 50;
/** What the pick may read of `item`: far more than a client's groups have open, far less than all groups have. */
const MOST_ROWS = 100;
/** Of the first in order; what has come in since the client's last pull is read by the other. */
const INDEXES = ['item_stock', 'item_stocked'];
/** The statement in `first_task` that picks, among all that the pull runs. */
const PICK = /from executors_of\(p_person\)/;
/** Its plans come as messages of the connection, statements inside of functions included. */
const EXPLAIN = [
  "load 'auto_explain'",
  'set auto_explain.log_min_duration = 0',
  'set auto_explain.log_analyze = on',
  'set auto_explain.log_nested_statements = on',
  'set auto_explain.log_format = json',
  'set client_min_messages = log',
];

/** How a pull finds what comes first, as the server itself ran it (S4.6). */
export async function plan(lab: Lab, report: Report, { groups, tasks }: Population): Promise<void> {
  const busy = Array.from({ length: groups }, (_, n) => n).filter((group) => !isIdle(group));
  const uids = Array.from(
    { length: CLIENTS },
    (_, n) => membersOf(busy[Math.floor((n * busy.length) / CLIENTS)] ?? 0)[0],
  );
  const picks = await picksOf(lab, uids as string[]);
  if (picks.length !== CLIENTS) throw new Error(`${picks.length} plans for ${CLIENTS} pulls`);
  const reads = picks.map(({ root }) => itemsRead(root));
  for (const { indexes, rows, plan } of reads)
    if (indexes.join() !== INDEXES.join() || rows === 0 || rows > MOST_ROWS)
      throw new Error(`the pick reads ${rows} rows of item by ${indexes.join() || 'nothing'}: ${plan}`);
  const rows = reads.map((r) => r.rows);
  const took = picks.map((p) => p.ms);
  report.add({
    what: `plan of the pick, ${tasks.length.toLocaleString('en-US')} open tasks`,
    figure: `index ${INDEXES[0]} for each of ${CLIENTS} clients; rows read: at most ${Math.max(...rows)}; p50 ${ms(quantile(took, 0.5))} with its measuring`,
    measured: { value: Math.max(...rows), unit: 'rows' },
    target: { most: MOST_ROWS },
  });
}

/** The plans with which these clients' pulls are picked. What they are handed is taken back. */
async function picksOf(lab: Lab, uids: string[]): Promise<{ root: Plan; ms: number }[]> {
  const client = await lab.db.pool.connect();
  const picks: { root: Plan; ms: number }[] = [];
  const hear = ({ message = '' }: { message?: string | undefined }) => {
    const [, duration, json] = /duration: ([\d.]+) ms\s+plan:\s*(\{[\s\S]*\})/.exec(message) ?? [];
    if (!json) return;
    const said: { 'Query Text': string; Plan: Plan } = JSON.parse(json);
    if (PICK.test(said['Query Text'])) picks.push({ root: said.Plan, ms: Number(duration) });
  };
  client.on('notice', hear);
  try {
    for (const line of EXPLAIN) await client.query(line);
    for (const uid of uids) {
      const pull = { person: uid, uid, exclude: [], token: `plan-${uid}`, explain: false };
      await client.query('begin');
      await client.query('select * from next_tasks($1)', [JSON.stringify([pull])]);
      await client.query('rollback');
    }
    return picks;
  } finally {
    client.off('notice', hear);
    // not into the pool: it would go on explaining
    client.release(true);
  }
}

/** By which indexes a plan reads `item`, and how many rows of it. */
function itemsRead(root: Plan) {
  const scans = nodes(root).filter((node) => node['Relation Name'] === 'item');
  const rows = scans.reduce((sum, s) => {
    const each = s['Actual Rows'] + (s['Rows Removed by Filter'] ?? 0) + (s['Rows Removed by Index Recheck'] ?? 0);
    return sum + Math.round(each * s['Actual Loops']);
  }, 0);
  return { indexes: scans.map((s) => s['Index Name'] ?? s['Node Type']), rows, plan: JSON.stringify(root) };
}

const nodes = (node: Plan): Plan[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
