import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Lab } from '../lab.ts';

/** A Docket that asks for keys, and an administrator's key. */
export interface Target {
  url: string;
  pid: number;
  key: string;
  stop(): Promise<void>;
}

/** What an attack found: figures to print, and each promise that was not kept. */
interface Found {
  figures: Record<string, number | string>;
  broken: string[];
}

export type Attack = (target: Target) => Promise<Found>;

const DOCKET = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));
const run = promisify(execFile);

export async function openTarget(lab: Lab): Promise<Target> {
  const env = { ...process.env, DATABASE_URL: lab.databaseUrl };
  const { stdout } = await run(process.execPath, [DOCKET, 'key', 'create', '--name', 'attack', '--role', 'admin'], {
    env,
  });
  const key = /docket_[0-9a-f]{12}_[\w-]{43}/.exec(stdout)?.[0];
  if (!key) throw new Error(`no key in: ${stdout}`);
  const { url, api, stop } = await lab.docket({ DOCKET_AUTH: 'keys', LOG_LEVEL: 'fatal' });
  return { url, pid: api.pid, key, stop };
}

/** Answers' status, body and milliseconds. */
export async function call({ url, key }: Target, method: string, path: string, body?: unknown) {
  const start = performance.now();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, text, ms: performance.now() - start };
}

interface Opened {
  close(): void;
  /** Reads what is left. @returns the bytes of each until the server has closed it */
  read(): Promise<number[]>;
}

/** Opens connections that send `text` and do not read. */
export async function openSockets(url: string, n: number, text: string): Promise<Opened> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let at = 0; at < n; at += 250) {
    const some = Array.from({ length: Math.min(250, n - at) }, () => connect(Number(port), hostname));
    for (const socket of some) socket.on('error', () => {}).pause();
    await Promise.all(some.map((socket) => new Promise((done) => socket.once('connect', done).once('close', done))));
    for (const socket of some) socket.write(text);
    sockets.push(...some);
  }
  return {
    close: () => void sockets.forEach((socket) => void socket.destroy()),
    read: () => Promise.all(sockets.map(readAll)),
  };
}

function readAll(socket: Socket): Promise<number> {
  if (socket.closed) return Promise.resolve(socket.bytesRead);
  return new Promise((resolve) => socket.once('close', () => resolve(socket.bytesRead)).resume());
}

/** Resident memory of a process in MB. Linux only. */
export const rssMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);

/** Calls `look` again and again for some seconds. */
export async function during(seconds: number, look: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; await sleep(200)) await look();
}
