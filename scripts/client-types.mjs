import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Writes the TypeScript client's types, which the console shares, from docs/openapi.json. They are not in git. JavaScript, because the
// client's build runs it without a loader.

const CLIENT = fileURLToPath(new URL('../clients/typescript/', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
const TYPES = `${CLIENT}src/openapi.ts`;
// openapi-typescript needs TypeScript's old compiler interface, so it is a package of the client, not of the root
const GENERATOR = `${CLIENT}node_modules/.bin/openapi-typescript`;

/** Takes a second, or nothing where the file was written from this very document. */
export function writeClientTypes() {
  const header = `// from docs/openapi.json, SHA-256 ${createHash('sha256').update(readFileSync(DOCUMENT)).digest('hex')}\n`;
  if (existsSync(TYPES) && readFileSync(TYPES, 'utf8').startsWith(header)) return;
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 * 1024 * 1024 };
  const types = execFileSync(GENERATOR, [DOCUMENT], options);
  // complete at once: another process may read it
  const making = `${TYPES}.${process.pid}`;
  writeFileSync(making, header + types);
  renameSync(making, TYPES);
}

if (import.meta.filename === process.argv[1]) writeClientTypes();
