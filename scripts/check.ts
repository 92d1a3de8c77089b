import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { workflowBundle } from '../worker/worker.ts';
import { checkImports } from './architecture/imports.ts';
import { checkBundle, checkColumns, checkLength, checkSizes, checkSql, checkWords } from './architecture/rules.ts';
import { readSource, type Source } from './architecture/source.ts';
import { checkErrors } from './errors.ts';
import { checkLifecycle } from './lifecycle.ts';
import { checkLockfile } from './lockfile.ts';
import { checkOpenApi } from './openapi.ts';
import { checkReading } from './reading.ts';
import { checkSchema } from './schema.ts';
import { checkStatements } from './statements.ts';
import { checkInstallScripts } from './supply-chain/install-scripts.ts';
import { checkLicenses } from './supply-chain/licenses.ts';
import { checkSbom } from './supply-chain/sbom.ts';
import { checkSecrets } from './supply-chain/secrets.ts';
import { checkVulnerabilities } from './supply-chain/vulnerabilities.ts';

interface Check {
  name: string;
  /** What to do about it. */
  fix: string;
  run(): Found | Promise<Found>;
}

/** Problems, or why they could not be looked for. */
type Found = string[] | { skipped: string };

const SHOWN = 200;
/** Not read line by line. */
const GENERATED = ['db/schema.sql', 'db/statements.ts'];

// the console and the client are compiled with them
execFileSync(process.execPath, ['scripts/client-types.mjs'], { stdio: 'inherit' });
const sources = readSources();
const each = (rule: (source: Source) => string[]) => () => sources.flatMap(rule);

const checks: Check[] = [
  {
    name: 'types',
    fix: '`npx tsc` shows the same',
    run: () => tool('tsc', '--noEmit', '--pretty', 'false'),
  },
  {
    name: 'types of the console',
    fix: '`npx tsc -p web` shows the same',
    run: () => tool('tsc', '-p', 'web', '--noEmit', '--pretty', 'false'),
  },
  {
    name: 'types of the bench',
    fix: '`npx tsc -p bench` shows the same',
    run: () =>
      existsSync('bench/node_modules')
        ? tool('tsc', '-p', 'bench', '--noEmit', '--pretty', 'false')
        : { skipped: 'the rivals are not installed: npm ci --prefix bench' },
  },
  {
    name: 'lint and format',
    fix: '`npm run format` applies safe fixes',
    run: () => tool('biome', 'check', '--colors=off', '--error-on-warnings', '--max-diagnostics=50'),
  },
  { name: 'imports', fix: 'see the flow in docs/ARCHITECTURE.md', run: () => checkImports(sources.map((s) => s.path)) },
  {
    name: 'nothing unused',
    fix: 'delete it; what is used in its own file only needs no `export`: `npx knip --fix` takes it off',
    run: () => tool('knip', '--no-progress'),
  },
  {
    name: 'sizes',
    fix: 'split a file or function by subject, break a line of SQL',
    run: () => [...sources.flatMap(checkSizes), ...lengths()],
  },
  { name: 'SQL in db/ only', fix: 'name the statement in db/queries and call it through db/', run: each(checkSql) },
  { name: 'nothing unfinished', fix: 'finish it, or file it and drop the comment', run: each(checkWords) },
  { name: 'workflow bundle', fix: 'use `import type`, or move what workflows need to domain/', run: bundle },
  { name: 'lock file', fix: '`npm run lockfile`', run: checkLockfile },
  { name: 'OpenAPI document', fix: '`npm run openapi`', run: checkOpenApi },
  { name: 'schema', fix: '`npm run schema`', run: checkSchema },
  { name: 'types of statements', fix: '`npm run statements`', run: checkStatements },
  { name: 'lifecycle diagrams', fix: '`npm run lifecycle`', run: checkLifecycle },
  { name: 'reading list', fix: '`npm run reading`', run: checkReading },
  { name: 'list of errors', fix: '`npm run errors`', run: checkErrors },
  {
    name: 'licenses of what is shipped',
    fix: 'use another package, or allow the license in scripts/supply-chain/licenses.ts and say why',
    run: checkLicenses,
  },
  {
    name: 'install scripts',
    fix: 'deny it in allowScripts of package.json, or allow it where Docket does not work without it',
    run: checkInstallScripts,
  },
  {
    name: 'secrets',
    fix: 'revoke it, then take it out; an example that opens nothing is listed in scripts/supply-chain/secrets.ts',
    run: checkSecrets,
  },
  { name: 'bill of materials', fix: '`npm run sbom` shows the same', run: checkSbom },
  { name: 'known vulnerabilities', fix: '`npm audit fix`, or another package', run: () => checkVulnerabilities() },
];

let failed = 0;
for (const { name, fix, run } of checks) {
  const start = performance.now();
  const problems = await Promise.resolve()
    .then(run)
    .catch((error: Error) => [error.stack ?? error.message]);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if ('skipped' in problems) {
    console.log(`skip  ${name} (${seconds} s): ${problems.skipped}`);
    continue;
  }
  if (problems.length === 0) {
    console.log(`ok    ${name} (${seconds} s)`);
    continue;
  }
  failed++;
  console.log(`FAIL  ${name} (${seconds} s)`);
  for (const problem of problems.slice(0, SHOWN)) console.log(`  ${problem.replaceAll('\n', '\n  ')}`);
  if (problems.length > SHOWN) console.log(`  … and ${problems.length - SHOWN} more`);
  console.log(`  To fix: ${fix}`);
}
if (failed > 0) console.log(`\n${failed} of ${checks.length} checks failed`);
process.exit(failed > 0 ? 1 : 0);

/** What git tracks or would track, as far as it is there. */
function files(...patterns: string[]): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  const listed = execFileSync('git', args, { encoding: 'utf8' }).split('\0');
  return [...new Set(listed)].filter((f) => f !== '' && !GENERATED.includes(f) && existsSync(f)).sort();
}

function readSources(): Source[] {
  const written = files('*.ts', '*.tsx', '*.mjs');
  return written.map((path) => readSource(path, readFileSync(path, 'utf8')));
}

function lengths(): string[] {
  return files('*.sql', '*.css').flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    return [...checkLength(path, text.split('\n').length - 1), ...checkColumns(path, text)];
  });
}

async function bundle(): Promise<string[]> {
  const { code } = await workflowBundle(process.env.DOCKET_CACHE || join(homedir(), '.cache', 'docket'));
  return checkBundle(code);
}

/** Runs a program of node_modules; what it prints are the problems. */
async function tool(name: string, ...args: string[]): Promise<string[]> {
  try {
    await promisify(execFile)(join('node_modules', '.bin', name), args, { maxBuffer: 64 * 1024 * 1024 });
    return [];
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    return [`${stdout ?? ''}${stderr ?? ''}`.trim() || message];
  }
}
