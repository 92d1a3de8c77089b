import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// What the parts of the demo share: the server that is running, and the data.

export const base = (process.env.DOCKET_URL || `http://127.0.0.1:${process.env.PORT || 3000}`).replace(/\/+$/, '');
/** What it was given by. */
const SETTING = process.env.DOCKET_URL ? 'DOCKET_URL' : 'PORT';
/** In the names of everything that one demo makes, so that the next begins anew. */
export const run = Date.now().toString(36);

/** Someone else was first; too many calls; a server that is away. */
const PASSING = new Set([409, 429, 502, 503, 504]);

/** The lines of a file of test/data, as fields. */
export function readData(name: string): string[][] {
  const file = fileURLToPath(new URL(`../../test/data/${name}`, import.meta.url));
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => line.split(','));
}

/** @throws Failed where there is no server, or none that takes the key */
export async function needServer(): Promise<void> {
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) fail(`${SETTING}: ${base} is no URL that begins with http://`);
  await call('GET', '/livez');
  await call('GET', '/v1/keys?limit=1');
}

// biome-ignore lint/suspicious/noExplicitAny: answers are as the API documents them
export async function call(method: string, path: string, body?: unknown): Promise<any> {
  const init =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const headers = {
    ...init.headers,
    ...(process.env.DOCKET_KEY && { authorization: `Bearer ${process.env.DOCKET_KEY}` }),
  };
  const response = await fetch(base + path, { method, ...init, headers }).catch((error: Error) => {
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
    const text = `${SETTING}: nothing answers at ${base} (${code ?? message}); start Docket (npm start), or correct ${SETTING}`;
    throw new Failed(text, { isPassing: true });
  });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const answer: any = await response
    .json()
    .catch(() => fail(`${SETTING}: ${base} is no Docket server; correct ${SETTING}`));
  if (response.status === 401 || response.status === 403)
    fail(
      `DOCKET_KEY: ${base} answered ${response.status} (${answer.detail}); set DOCKET_KEY to an administrator's key: ` +
        'npx docket key create --role admin',
    );
  if (!response.ok) {
    const isPassing = PASSING.has(response.status);
    throw new Failed(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`, { isPassing });
  }
  return answer;
}

/** Something that the demo needs is not there, or not as it should be; the message is for whoever started it. */
export class Failed extends Error {
  /** Another call, or a later time, may do better. */
  readonly isPassing: boolean;

  constructor(message: string, { isPassing }: { isPassing: boolean }) {
    super(message);
    this.isPassing = isPassing;
  }
}

export function fail(message: string): never {
  throw new Failed(message, { isPassing: false });
}
