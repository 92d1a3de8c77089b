import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, inject, test } from 'vitest';
import { startOutbox } from '../support/child.ts';
import { needDebian } from '../support/debian.ts';
import { ownFolder } from '../support/own.ts';
import { pythonWith } from '../support/python.ts';
import { startTestSystem, testStores } from '../support/system.ts';
import { installOutbox } from './outbox.ts';

needDebian('php-cli', 'php-pgsql', 'php-illuminate-database');
const guide = readFileSync('docs/guides/sql-outbox.md', 'utf8');
const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
const { api } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });
const outbox = await installOutbox(stores.databaseUrl);
const dir = ownFolder('outbox-guide');
const run = promisify(execFile);

beforeAll(async () => {
  await outbox.client.query('create table post (id text primary key, text text)');
  startOutbox(outbox.url, api.url);
});

/** The lines of a section of the guide. */
function lines(section: string): string {
  const [, block] = new RegExp(`### ${section}\n\n\`\`\`\\w+\n([^]*?)\`\`\``).exec(guide) ?? [];
  if (!block) throw new Error(`docs/guides/sql-outbox.md has no lines for ${section}`);
  return block;
}

/** Runs a program with the URL and a post; once more it fails, because the post is there, and adds nothing. */
async function expectAdded(command: string, file: string, program: string): Promise<void> {
  writeFileSync(join(dir, file), program);
  const id = `by-${file.replace('.', '-')}`;
  const add = (text: string) => run(command, [join(dir, file), outbox.url, id, text], { cwd: dir });
  await add('hello');
  await expect(add('hello again')).rejects.toThrow();
  await outbox.drained();
  const ticket = await api.tickets.ticket(id);
  expect(ticket).toMatchObject({ queue: 'posts', body: { text: 'hello' } });
  expect(await outbox.cell('select text from post where id = $1', [id])).toBe('hello');
  expect(await outbox.cell('select count(*)::int from docket_outbox.refused')).toBe(0);
}

const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
const npm = (...packages: string[]) =>
  execFileSync('npm', ['install', '--prefer-offline', ...QUIET, ...packages], { cwd: dir });

test('Prisma: the lines of the guide', async () => {
  npm('prisma@7.10.1', '@prisma/client@7.10.0', '@prisma/adapter-pg@7.10.1');
  writeFileSync(
    join(dir, 'schema.prisma'),
    `datasource db {
  provider = "postgresql"
}
generator client {
  provider = "prisma-client-js"
}
model Post {
  id   String @id
  text String?
  @@map("post")
}`,
  );
  // the engine of migrations would be downloaded unless one is named; generating does not run it
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  await run(join(dir, 'node_modules/.bin/prisma'), ['generate', '--schema', 'schema.prisma'], { cwd: dir, env });
  await expectAdded(
    process.execPath,
    'prisma.mjs',
    `import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '@prisma/client';
const [url, id, text] = process.argv.slice(2);
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
${lines('Prisma')}
await prisma.$disconnect();`,
  );
}, 180_000);

test('Drizzle: the lines of the guide', async () => {
  npm('drizzle-orm@0.45.4', 'pg@8');
  await expectAdded(
    process.execPath,
    'drizzle.mjs',
    `import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text as column } from 'drizzle-orm/pg-core';
const [url, id, text] = process.argv.slice(2);
const posts = pgTable('post', { id: column().primaryKey(), text: column() });
const db = drizzle(url);
${lines('Drizzle')}
await db.$client.end();`,
  );
}, 180_000);

test('SQLAlchemy: the lines of the guide', async () => {
  const python = pythonWith(inject('cacheDir'), 'outbox', ['sqlalchemy==2.1.9', 'psycopg[binary]==3.3.9']);
  await expectAdded(
    python,
    'alchemy.py',
    `import json
import sys
from sqlalchemy import Column, String, create_engine, text
from sqlalchemy.orm import Session, declarative_base

url, id, words = sys.argv[1:]
engine = create_engine(url.replace("postgres://", "postgresql+psycopg://"))

class Post(declarative_base()):
    __tablename__ = "post"
    id = Column(String, primary_key=True)
    text = Column(String)

${lines('SQLAlchemy')}`,
  );
}, 180_000);

test('Laravel: the lines of the guide', async () => {
  await expectAdded(
    'php',
    'laravel.php',
    `<?php
require 'Illuminate/Database/autoload.php';
use Illuminate\\Database\\Capsule\\Manager as DB;
[, $url, $id, $text] = $argv;
['host' => $host, 'port' => $port, 'user' => $user, 'pass' => $pass, 'path' => $path] = parse_url($url);
$capsule = new DB();
$capsule->addConnection(['driver' => 'pgsql', 'host' => $host, 'port' => $port, 'database' => substr($path, 1),
    'username' => $user, 'password' => $pass, 'charset' => 'utf8']);
$capsule->setAsGlobal();
${lines('Laravel')}`,
  );
});
