import { accessSync, constants, mkdirSync } from 'node:fs';
import { POOLED, READ_ONLY, UnfitDatabaseError } from '../db/connecting.ts';
import { urlsOf } from '../domain/database-url.ts';

// Errors for the terminal, one line each: the setting, what is wrong with it, and what to do.
// Users, hosts and ports may be in it; passwords and keys never are.

/** System error codes in words. */
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no route to it',
  ENETUNREACH: 'no route to it',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name cannot be resolved',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'read-only file system',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'it is not a folder',
  EISDIR: 'it is a folder',
  ENOENT: 'no such file or folder',
  ENOSPC: 'no space left',
};

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException).code ?? '');

/** A system error in words. */
export const reasonOf = (error: unknown): string =>
  REASONS[codeOf(error)] || (error as Error).message || codeOf(error) || String(error);

/** For `catch`: throws what `failure` makes of an error. */
export const throwing = (failure: (error: never) => unknown) => (error: unknown) => {
  throw failure(error as never);
};

/** The host and port of a database URL, or the folder of its socket, without user and password. */
function placeOf(url: string): string {
  const [first = url, ...others] = urlsOf(url).map(hostOf);
  return [first, ...others].join(', ');
}

function hostOf(url: string): string {
  // a user without a host is no URL, but means the local server
  const text = url.replace('@/', '@localhost/');
  if (!URL.canParse(text)) return 'the address given';
  const { hostname, port, searchParams } = new URL(text);
  const host = searchParams.get('host') || decodeURIComponent(hostname) || 'localhost';
  return host.startsWith('/') ? host : `${host}:${port || searchParams.get('port') || 5432}`;
}

/** The driver's message, without a code, when the connection ended before the server answered. */
const UNANSWERED = /^(timeout expired|timeout exceeded when trying to connect|Connection terminated|.* not queryable)/;
/** What to do about a rejection by the server, by SQLSTATE. */
const STATES: Record<string, (setting: string) => string> = {
  '28P01': (setting) => `correct the user or the password in ${setting}`,
  28000: (setting) => `correct the user in ${setting}, or permit it in pg_hba.conf`,
  '3D000': (setting) => `create the database, or name another one in ${setting}`,
  42501: () => 'make its user the owner of the database',
  53300: () => 'raise max_connections there, or set DOCKET_POOL lower',
  '57P03': () => 'try again',
  [READ_ONLY]: (setting) => `wait until it accepts writes, or name the server that does in ${setting}`,
  '42P01': () => 'run docket migrate first',
  42883: () => 'run docket migrate first',
};

/** A database URL and where it was set. */
export interface Database {
  url: string;
  /** `DATABASE_URL`, an option, a folder. */
  setting: string;
  /** What to do when it cannot be reached. */
  todo?: string;
}

/** An error that says why a database cannot be used. @returns the error itself where it has another cause */
export function databaseFailure(error: unknown, { url, setting, todo: start }: Database): Error {
  const server = `PostgreSQL at ${placeOf(url)}`;
  const { message = '' } = error as Error;
  const say = (text: string) => new Error(`${setting}: ${text}`, { cause: error });
  if (error instanceof UnfitDatabaseError) return say(`${message} in ${setting}`);
  if (message.includes('unsupported startup parameter')) return say(`${POOLED} in ${setting} (${message})`);
  const todo = STATES[codeOf(error)];
  if (todo) return say(`${server} answers "${message}"; ${todo(setting)}`);
  if (message.includes('client password must be'))
    return say(`${server} asks for a password, and ${setting} has none; add it to ${setting}`);
  if (/SSL|certificate/i.test(message))
    return say(`${server} cannot be used over TLS: ${message}; correct sslmode in ${setting}`);
  if (REASONS[codeOf(error)] || UNANSWERED.test(message)) {
    const reason = UNANSWERED.test(message) ? 'no answer from PostgreSQL' : reasonOf(error);
    return say(`cannot reach ${server} (${reason}); ${start ?? `start it, or correct ${setting}`}`);
  }
  return error as Error;
}

/** An address to listen on, and the settings that choose it. */
export interface ListenAddress {
  host: string;
  port: number;
  settings: { host: string; port: string };
}

/** As a URL has it. */
export const hostAndPort = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** An error that says why a process cannot listen there. */
export function listenFailure(error: unknown, { host, port, settings }: ListenAddress): Error {
  const say = (text: string) => new Error(text, { cause: error });
  const code = codeOf(error);
  if (code === 'EADDRINUSE')
    return say(`${settings.port}: port ${port} is taken; set ${settings.port} to another, or to 0 for any free one`);
  if (code === 'EACCES')
    return say(`${settings.port}: this user may not listen on port ${port}; set ${settings.port} to one above 1023`);
  return say(
    `${settings.host}: nothing can listen on ${host} (${REASONS[code] ?? 'not an address of this machine'}); ` +
      `set ${settings.host} to an address of this machine`,
  );
}

/** Creates a folder if it is missing, and checks that this process may write to it. @throws Error that names the setting */
export function needFolder(folder: string, setting: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const todo = `set ${setting} to a folder that this user may write to`;
    throw new Error(`${setting}: cannot write to ${folder} (${reasonOf(error)}); ${todo}`, { cause: error });
  }
}
