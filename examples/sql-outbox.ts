import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@docket/client';
import pg from 'pg';

// A forum asks for a look at each post in the transaction that saves it: committed, there is a ticket; rolled back, none.

const servers = (process.env.DOCKET_SERVERS ?? 'http://127.0.0.1:3000').split(',');
const docket = new Client({ servers, apiKey: process.env.DOCKET_API_KEY });
const env = { ...process.env, DOCKET_URL: servers[0], DOCKET_KEY: process.env.DOCKET_API_KEY ?? '' };

/** The forum's own database: on the server of `npm start`, unless APP_DATABASE_URL names another one. */
async function forumDatabase(): Promise<string> {
  const given = process.argv[2] ?? process.env.APP_DATABASE_URL;
  if (given) return given;
  if (!existsSync('.docket/database.url')) throw new Error('start Docket here with npm start, or set APP_DATABASE_URL');
  const url = new URL(readFileSync('.docket/database.url', 'utf8').trim());
  const server = new pg.Client(url.href);
  await server.connect();
  await server.query('create database forum').catch((error: { code?: string }) => {
    if (error.code !== '42P04') throw error; // it is there already
  });
  await server.end();
  url.pathname = '/forum';
  return url.href;
}

const url = await forumDatabase();
execFileSync(process.execPath, ['cli/docket.mjs', 'outbox', 'install', url], { env });
const follower = spawn(process.execPath, ['cli/docket.mjs', 'outbox', 'follow', url], { env, stdio: 'inherit' });

const forum = new pg.Client(url);
await forum.connect();
await forum.query('create table if not exists post (id text primary key, text text not null)');

async function save(id: string, text: string, end: 'commit' | 'rollback'): Promise<void> {
  await forum.query('begin');
  await forum.query('insert into post values ($1, $2)', [id, text]);
  await forum.query(`select docket_outbox.add_ticket('posts', $1, jsonb_build_object('text', $2::text))`, [id, text]);
  await forum.query(end);
}

const run = Date.now();
await save(`${run}-1`, 'bring the cards at nine', 'rollback');
await save(`${run}-2`, 'cheap watches http://watch.example', 'commit');

/** Whether there is a ticket for a post. */
const isAsked = (id: string) =>
  docket.tickets.get(id).then(
    () => true,
    () => false,
  );
while (!(await isAsked(`${run}-2`))) await sleep(100);
console.log('the committed post waits for a person at /desk/posts of the console');
console.log(`the post that was rolled back ${(await isAsked(`${run}-1`)) ? 'waits, too' : 'has no ticket'}`);
follower.kill('SIGTERM');
await forum.end();
