import { createServer } from 'node:http';
import type pg from 'pg';
import { expect } from 'vitest';
import { startOutbox } from '../support/child.ts';
import { docket } from '../support/cli.ts';
import { eventually, type Json } from '../support/client.ts';
import { connected, emptyDatabase } from '../support/database.ts';
import { listening } from '../support/listening.ts';

export interface Outbox {
  /** Of a database of the caller's. */
  url: string;
  client: pg.Client;
  /** Runs a statement in that database, and gives the first cell. */
  cell(text: string, values?: unknown[]): Promise<Json>;
  /** Waits until all rows have been answered. */
  drained(ms?: number): Promise<unknown>;
}

/** A database with an outbox, on the server of another database. */
export async function installOutbox(server: string): Promise<Outbox> {
  const url = await emptyDatabase(server);
  const { code, stdout, stderr } = await docket(['outbox', 'install', url]);
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('has the schema docket_outbox')]);
  return outboxOf(url);
}

async function outboxOf(url: string): Promise<Outbox> {
  const client = await connected(url);
  const cell: Outbox['cell'] = async (text, values) =>
    (await client.query({ text, values, rowMode: 'array' })).rows[0]?.[0];
  const drained = (ms?: number) =>
    eventually(async () => (await cell('select count(*)::int from docket_outbox.message')) === 0, ms);
  return { url, client, cell, drained };
}

/** What a gateway answers itself, or what it does with the answer of the server. */
interface Answer {
  status?: number;
  body?: string;
  type?: string;
  /** The server has answered, and its answer is kept for so long. */
  until?: Promise<unknown>;
}

/** A server before Docket's, which a test has answer in its place. A follower begins with a check of its key, which adds nothing. */
export async function startGateway(to: string) {
  const gateway = { url: '', calls: 0, answer: (_path: string, _isCheck: boolean): Answer => ({}) };
  const server = createServer(async (request, response) => {
    gateway.calls++;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks);
    const { status, body, type = 'text/html', until } = gateway.answer(request.url ?? '', sent.includes('"jobs":[]'));
    if (status !== undefined) return void response.writeHead(status, { 'content-type': type }).end(body);
    const { method = '', headers } = request;
    const answer = await fetch(to + request.url, { method, headers: headers as Record<string, string>, body: sent });
    const text = await answer.text();
    await until;
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text);
  });
  gateway.url = await listening(server);
  return gateway;
}

/** Runs `work` beside a follower, which is stopped afterwards and must have ended well. */
export async function withFollower<T>(outbox: Outbox, server: string, work: () => Promise<T>): Promise<T> {
  const follower = startOutbox(outbox.url, server);
  await eventually(async () => follower.output().includes('is ready'));
  let worked: T;
  try {
    worked = await work();
  } catch (error) {
    await follower.end('SIGKILL');
    throw error;
  }
  expect([await follower.end('SIGTERM'), follower.output()]).toEqual([0, expect.stringContaining(' rows added, ')]);
  return worked;
}
