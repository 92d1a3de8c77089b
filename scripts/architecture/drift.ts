import { readFileSync } from 'node:fs';

/** Empty when a committed file is what the code makes of it, else the first line that isn't. */
export function differences(path: string, committed: string, made: string): string[] {
  if (committed === made) return [];
  const [old, now] = [committed.split('\n'), made.split('\n')];
  const first = now.findIndex((line, i) => line !== old[i]);
  const at = first < 0 ? now.length : first;
  const shown = (line = '') => line.trim().slice(0, 100);
  return [`${path}:${at + 1} is "${shown(old[at])}", should be "${shown(now[at])}"`];
}

/** A file's text, or '' where there is none yet. */
export function committed(file: URL): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
