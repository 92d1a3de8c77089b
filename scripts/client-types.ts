import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { committed, differences } from './architecture/drift.ts';

// The generator needs TypeScript's old compiler interface, so it stands, with a compiler that has it,
// among the packages of the client, not among those of the root.

const GENERATOR = 'clients/typescript/node_modules/.bin/openapi-typescript';
const FROM = 'docs/openapi.json';
const FILE = 'clients/typescript/src/openapi.ts';
const fileUrl = new URL(`../${FILE}`, import.meta.url);

/** With the generator's default flags, as anybody would. */
function clientTypes(): string {
  return execFileSync(GENERATOR, [FROM], {
    encoding: 'utf8',
    cwd: new URL('..', import.meta.url),
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** What is different between the committed types and the committed OpenAPI document. */
export const checkClientTypes = () => differences(FILE, committed(fileUrl), clientTypes());

if (import.meta.filename === process.argv[1]) {
  writeFileSync(fileUrl, clientTypes());
  console.log(`${FILE} is written`);
}
