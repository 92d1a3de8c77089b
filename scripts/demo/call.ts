import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// What the parts of the demo share: the server that is running, and the data.

export const base = process.env.DOCKET_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`;
/** In the names of everything that one demo makes, so that the next begins anew. */
export const run = Date.now().toString(36);

/** The lines of a file of test/data, as fields. */
export function readData(name: string): string[][] {
  const file = fileURLToPath(new URL(`../../test/data/${name}`, import.meta.url));
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => line.split(','));
}

// biome-ignore lint/suspicious/noExplicitAny: answers are as the API documents them
export async function call(method: string, path: string, body?: unknown): Promise<any> {
  const init =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const headers = {
    ...init.headers,
    ...(process.env.DOCKET_KEY && { authorization: `Bearer ${process.env.DOCKET_KEY}` }),
  };
  const response = await fetch(base + path, { method, ...init, headers });
  const answer = await response.json();
  if (!response.ok) fail(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

export function fail(message: string): never {
  console.error(`\n${message}`);
  process.exit(1);
}
