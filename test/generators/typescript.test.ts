import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'vitest';
import { DOCUMENT, expectDecided, folder, run } from './generated.ts';

const bin = (name: string) => resolve('clients/typescript/node_modules/.bin', name);
const CLIENT = '../../../clients/typescript/src/openapi.ts';

const OPTIONS = {
  compilerOptions: {
    ...{ target: 'es2023', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true },
    ...{ rewriteRelativeImportExtensions: true, skipLibCheck: true, types: ['node'], outDir: 'dist' },
  },
};

test('S3.5 openapi-typescript with its default flags and openapi-fetch: add, claim, decide', async () => {
  const dir = folder('typescript');
  await run(bin('openapi-typescript'), [DOCUMENT, '--output', join(dir, 'openapi.ts')], dir);
  const program = readFileSync(resolve('test/generators/typescript/program.ts'), 'utf8');
  writeFileSync(join(dir, 'program.ts'), program.replace(CLIENT, './openapi.ts'));
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(OPTIONS));
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
  await run(bin('tsc'), ['-p', '.'], dir);
  await expectDecided((url, key) => run(process.execPath, [join(dir, 'dist', 'program.js'), url, key], dir));
}, 180_000);
