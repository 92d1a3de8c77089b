import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { expect } from 'vitest';
import { execute } from '../support/cached.ts';
import { eventually, type Json } from '../support/client.ts';
import { needDebian } from '../support/debian.ts';
import { atEndOfFile } from '../support/endings.ts';
import { ownFolder } from '../support/own.ts';
import { lastingPort } from '../support/ports.ts';

/** Debian's MariaDB with a database `events` of the user `olga`. Stopped after the file's tests. */
export class Mariadb {
  readonly #options: string[];
  readonly port: number;
  #server?: ChildProcess;

  private constructor(dir: string, port: number) {
    this.#options = [
      '--no-defaults',
      '--user=root',
      `--datadir=${join(dir, 'data')}`,
      `--socket=${join(dir, 'socket')}`,
    ];
    this.port = port;
    atEndOfFile(() => this.kill());
  }

  static async start(): Promise<Mariadb> {
    needDebian('mariadb-server-core', 'mariadb-client-core');
    const dir = ownFolder('mariadb');
    mkdirSync(join(dir, 'data'));
    const server = new Mariadb(dir, await lastingPort());
    const normal = ['--auth-root-authentication-method=normal', '--skip-test-db'];
    await execute('mariadb-install-db', [...server.#options, ...normal]);
    await server.start();
    for (const sql of [
      'create database events',
      "create user olga identified by 'p@ss'",
      'grant all on events.* to olga',
    ])
      await server.query(sql, 'root@');
    return server;
  }

  async start(): Promise<void> {
    const listen = ['--bind-address=127.0.0.1', `--port=${this.port}`, '--skip-name-resolve'];
    this.#server = spawn('/usr/sbin/mariadbd', [...this.#options, ...listen], { stdio: 'ignore' });
    await eventually(() => this.query('select 1', 'root@'));
  }

  async kill(): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    await new Promise((ended) => {
      server.once('exit', ended);
      server.kill('SIGKILL');
    });
  }

  url = (user = 'olga:p%40ss@') => `mysql://${user}127.0.0.1:${this.port}/${user === 'root@' ? '' : 'events'}`;

  async query(sql: string, user?: string): Promise<Json[]> {
    const connection = await createConnection({ uri: this.url(user), dateStrings: true });
    try {
      const [rows] = await connection.query(sql);
      return rows as Json[];
    } finally {
      connection.destroy();
    }
  }

  /** Locks rows until it is released, and resolves when another statement waits for them. */
  async lock(select: string): Promise<{ waitedFor: Promise<unknown>; release(): void }> {
    const connection = await createConnection({ uri: this.url() });
    await connection.query('start transaction');
    await connection.query(`${select} for update`);
    const waiting = `select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'`;
    const waitedFor = eventually(async () => expect(await this.query(waiting, 'root@')).toHaveLength(1), 60_000);
    return { waitedFor, release: () => connection.destroy() };
  }
}
