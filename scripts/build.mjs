import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import ts from 'typescript';
import { sourceFiles, sourceHash } from '../cli/servers/compiled.mjs';

// Compiles what runs on a server into dist/: JavaScript, what is read by path beside it, the workflows' bundle, and the console.

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const DIST = join(ROOT, 'dist');

rmSync(DIST, { recursive: true, force: true });
const hash = sourceHash();
const compiler = dirname(createRequire(import.meta.url).resolve('@typescript/native/package.json'));
// types are the business of `npm run check`
execFileSync(process.execPath, [join(compiler, 'bin/tsc'), '-p', 'tsconfig.build.json', '--noCheck'], {
  cwd: ROOT,
  stdio: 'inherit',
});
// of what other programs import; both say all types themselves
for (const file of ['cli/library', 'runtime/log']) {
  const { outputText } = ts.transpileDeclaration(readFileSync(join(ROOT, `${file}.ts`), 'utf8'), {});
  writeFileSync(join(DIST, `${file}.d.ts`), outputText);
}
for (const file of sourceFiles())
  if (/\.(sql|mjs)$|^package|^api\/.*\.json$/.test(file)) cpSync(join(ROOT, file), join(DIST, file));
const { code } = await bundleWorkflowCode({
  workflowsPath: join(DIST, 'workflows/index.js'),
  logger: new DefaultLogger('WARN'),
});
writeFileSync(join(DIST, 'workflows/bundle.cjs'), code);
const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
const site = [
  '--config',
  'web/vite.config.ts',
  '--configLoader',
  'runner',
  '--outDir',
  join(DIST, 'web'),
  '--logLevel',
  'warn',
];
execFileSync(process.execPath, [vite, 'build', ...site], { cwd: ROOT, stdio: 'inherit' });
// last: without it dist/ is not whole, and not used
writeFileSync(join(DIST, 'sources'), hash);
