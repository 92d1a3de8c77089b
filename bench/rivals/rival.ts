import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnServer } from '../../cli/servers/children.ts';
import { freePort, isFree } from '../../cli/servers/ports.ts';
import { onDatabase } from '../../test/support/database.ts';
import type { Lab } from '../lab.ts';

export interface NewJob {
  id: string;
  delaySeconds: number;
  /** Something like the article's closing of an order; `order` is another one for each job. */
  body: { order: number; user: string; amount: number };
}

/** What a queue handed out, and by what it knows it again. */
export interface Taken {
  order: number;
  ref: unknown;
}

/** One producer or consumer, one call at a time. Many jobs go in one call, or pipelined where there is no such call. */
export interface JobCaller {
  add(topic: string, jobs: NewJob[]): Promise<void>;
  take(topic: string, most: number, waitSeconds?: number): Promise<Taken[]>;
  finish(topic: string, jobs: Taken[]): Promise<void>;
  close(): void;
}

/** A queue to be measured: Docket through one of its doors, or a rival. */
export interface Queues {
  name: string;
  /** What it has acknowledged survives the loss of power. */
  durable: boolean;
  /** Delays are whole seconds. */
  wholeSeconds?: boolean;
  /** What it does less than Docket; said where it is ahead. */
  lighter: string;
  /** Where it keeps its tables. */
  databaseUrl?: string;
  callers(n: number): Promise<JobCaller[]>;
  /** Puts jobs where it hands them out fastest; without it, they are added in batches. */
  fill?(topic: string, jobs: number, perQueue: number): Promise<void>;
  /** A runner of its own instead of take and finish. @returns jobs per second */
  work?(topic: string, callers: number, batch: number, seconds: number, most?: number): Promise<number>;
  /** How its users consume, where that is not by take and finish. @returns what ends it */
  consume?(topic: string, consumers: number, got: (order: number) => void): Promise<() => Promise<void>>;
  /** Throws away what is left, where that would weigh on what comes after. */
  clear?(): Promise<void>;
  stop(): Promise<void>;
}

/** The version of a rival that stands in bench/package-lock.json, as its package says it. */
export const versionOf = (rival: string): string =>
  (JSON.parse(readFileSync(new URL(`../node_modules/${rival}/package.json`, import.meta.url), 'utf8')) as Package)
    .version;

interface Package {
  version: string;
}

/** A database of a rival's own on the same server. */
export async function ownDatabase(lab: Lab, name: string): Promise<string> {
  await lab.sql(`drop database if exists ${name} with (force)`);
  await lab.sql(`create database ${name}`);
  return new URL(`/${name}`, lab.postgresUrl).href;
}

/** Runs a rival's server on a free port, until it listens. */
export async function startServer(
  lab: Lab,
  name: string,
  command: string,
  args: (port: number) => string[],
): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const how = { signal: 'SIGTERM', graceMs: 10_000, pidFile: join(lab.dir, `${name}.pid`) } as const;
  const { stop } = await spawnServer({ command, args: args(port), ...how });
  for (let tries = 0; await isFree(port); tries++) {
    if (tries > 100) throw new Error(`${command} does not listen`);
    await sleep(50);
  }
  return { port, stop };
}

/** What autovacuum does within its minute: without statistics a measurement is one of the planner's guesses. */
export async function settle({ databaseUrl }: Queues): Promise<void> {
  if (databaseUrl) await onDatabase(databaseUrl, (client) => client.query('vacuum analyze'));
}
