import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sealed } from '../../db/moving/file.ts';
import { docketHere, type Ended, folder, ROOT, run } from './cli.ts';

/** `docket dump` into a file of this name; its path. */
export async function dumped(url: string, name: string): Promise<string> {
  const file = join(folder, name);
  rmSync(file, { force: true });
  const { code, stderr } = await docketHere(['dump', file], { DATABASE_URL: url });
  if (code !== 0) throw new Error(`docket dump: ${stderr}`);
  return file;
}

export const loaded = (url: string, file: string): Promise<Ended> => docketHere(['load', file], { DATABASE_URL: url });

/** The same from standard input. */
export const loadedByPipe = (url: string, file: string): Promise<Ended> =>
  run(['sh', '-c', `exec "${process.execPath}" cli/docket.mjs load < "${file}"`], { DATABASE_URL: url }, ROOT);

/** The rows of each table of a dump, sorted, and its sequences. */
export function tablesOf(file: string): Record<string, string[]> {
  const [, ...parts] = readFileSync(file, 'utf8').split(/^table /m);
  const tables = parts.map((part): [string, string[]] => {
    const [head = '', ...rows] = part.slice(0, part.search(/^\\\.$/m)).split('\n');
    return [JSON.parse(head).name, rows.slice(0, -1).sort()];
  });
  const sequences =
    parts
      .at(-1)
      ?.split('\n')
      .filter((line) => line.startsWith('sequence ')) ?? [];
  return { ...Object.fromEntries(tables), sequences };
}

/** A dump that is whole, but of which something is otherwise: what `change` makes of its text before the last line. */
export async function resealed(file: string, name: string, change: (text: string) => string): Promise<string> {
  const text = change(readFileSync(file, 'utf8').replace(/end \{[^\n]*\n$/, ''));
  const chunks: Buffer[] = [];
  const whole = async function* () {
    yield Buffer.from(text);
  };
  for await (const chunk of sealed(whole())) chunks.push(chunk);
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(chunks));
  return path;
}
