import type { Client } from '@temporalio/client';
import pg from 'pg';
import type { Json } from '../../test/support/client.ts';
import type { Op } from './journal.ts';
import type { FeedLine } from './kinds/feed.ts';
import type { Received } from './receivers.ts';

/** Columns of text, columns of numbers, and the others. */
type Row<Text extends string, Numeric extends string, Others = object> = Record<Text, string> &
  Record<Numeric, number> &
  Others;

export type ItemRow = Row<
  'kind' | 'id' | 'queue' | 'state',
  'version' | 'delay_seconds',
  {
    body: Json;
    result: Json;
    ended_at: number | null;
    /** Of a second look: the ticket that it is about. */
    of: string | null;
  }
>;
export type EventRow = Row<
  'kind' | 'item_id' | 'type' | 'actor',
  'seq' | 'at',
  {
    /** Null: by an earlier release. */
    no: number | null;
    /** Hash of the token that the line grants, hex. */
    token: string | null;
    /** The line that granted what this one ends. */
    ends: number | null;
  }
>;
export type LeaseRow = Row<
  'token' | 'kind' | 'item_id' | 'slot',
  'granted_at',
  { ended_at: number | null; why: string | null }
>;
export type CallbackRow = Row<
  'review_id' | 'callback_id' | 'outcome',
  'status' | 'audit_time',
  { kind: 'text' | 'picture' | 'reply' | 'edit'; target_id: string | null }
>;
export type DeliveryRow = Row<'kind' | 'item_id' | 'state', 'n' | 'version'>;

/** What the stores say after a storm. */
export interface Facts {
  items: ItemRow[];
  /** By item, in order. */
  events: EventRow[];
  leases: LeaseRow[];
  votes: Row<'token' | 'case_id' | 'juror' | 'option', never, { counted: boolean }>[];
  cases: Row<'id', never, { tally: Record<string, number>; winner: string | null }>[];
  /** By arrival. */
  callbacks: CallbackRow[];
  targets: Row<'review_id' | 'kind' | 'target_id', 'status'>[];
  deliveries: DeliveryRow[];
  /** The numbers that the product keeps; those of 0 are left out. */
  counts: Row<'kind' | 'queue' | 'what', 'n'>[];
  /** Ids of workflows that run. */
  running: string[];
}

/** From and to, in milliseconds since 1970. */
export type Span = [from: number, to: number];

/** All that is known of a storm. */
export interface History extends Facts {
  /** When the storm began, in milliseconds since 1970. */
  began: number;
  ops: Op[];
  /** While the database's clock was off: times from within may not be in the order of the events. */
  unsure: Span[];
  feed: FeedLine[];
  received: Received[];
}

const QUERIES: Record<Exclude<keyof Facts, 'running'>, string> = {
  items: `select kind, id, queue, state, version, body, result, delay_seconds, ended_at, look #>> '{of,id}' as of from item`,
  events: `select kind, item_id, no, seq, type, actor, at, encode(token, 'hex') as token, ends from event order by kind, item_id, seq`,
  leases: `select token, kind, item_id, slot, granted_at, ended_at, why from lease order by granted_at, ended_at`,
  votes: `select token, case_id, juror, option, counted from vote`,
  cases: `select id, tally, winner from case_file`,
  callbacks: `select review_id, callback_id, kind, target_id, status, audit_time, outcome from review_callback order by arrival`,
  targets: `select review_id, kind, target_id, status from review_index where removed_at is null`,
  deliveries: `select kind, item_id, n, version, state from delivery order by kind, item_id, n`,
  counts: `select kind, queue, what, sum(n)::bigint as n from tally group by 1, 2, 3 having sum(n) <> 0`,
};

const { INT8, TIMESTAMPTZ } = pg.types.builtins;
/** Whole numbers and milliseconds, so that checkers compare plain numbers. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return (text: string) => Date.parse(text);
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as pg.CustomTypesConfig;

/** All rows at one instant, and the workflows that run then. */
export async function readFacts(databaseUrl: string, temporal: Client): Promise<Facts> {
  const client = new pg.Client({ connectionString: databaseUrl, types });
  await client.connect();
  const facts = { running: [] as string[] } as Facts;
  await client.query('begin isolation level repeatable read read only');
  for (const [name, text] of Object.entries(QUERIES)) Object.assign(facts, { [name]: (await client.query(text)).rows });
  await client.query('commit');
  await client.end();
  const open = new Set(facts.items.filter(({ ended_at }) => ended_at === null).map(({ kind, id }) => `${kind}/${id}`));
  for await (const { workflowId } of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` }))
    if (open.has(workflowId) || (await isRunning(temporal, workflowId))) facts.running.push(workflowId);
  return facts;
}

/** The list may lack the end of a workflow that the development server had not written into it when it was killed. */
async function isRunning(temporal: Client, workflowId: string): Promise<boolean> {
  const { status } = await temporal.workflow.getHandle(workflowId).describe();
  return status.name === 'RUNNING';
}
