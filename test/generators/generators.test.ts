import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { cachedFolder } from '../support/cached.ts';
import { needDebian } from '../support/debian.ts';
import { ownFolder } from '../support/own.ts';
import { pythonWith } from '../support/python.ts';
import { startTestSystem } from '../support/system.ts';

// What a team in another language does first: it generates a client of the document, and works on a ticket with it.

const DOCUMENT = resolve('docs/openapi.json');
const here = (file: string) => resolve('test/generators', file);
const folder = (name: string) => ownFolder(`generated-${name}`);

/**
 * Runs a program while the server, which is in this process, goes on answering.
 * @param says is given what it said on standard error
 * @returns what it printed
 * @throws Error with all that it printed when it fails
 */
async function run(
  command: string,
  args: string[],
  cwd: string,
  says: (text: string) => void = () => {},
): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
    says(stderr);
    return stdout;
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error([message.split('\n')[0], stdout.slice(-20_000), stderr.slice(-20_000)].join('\n'));
  }
}

/**
 * Has a program add, claim and decide a ticket, and looks at what the server has of it. The program is given the server's
 * address and a key; it prints the ticket's id, and the code of the problem when it decides with a token that isn't live.
 */
async function expectDecided(program: (url: string, key: string) => Promise<string>): Promise<void> {
  // each program adds a ticket of the same name
  const { api, keyed } = await startTestSystem({ DOCKET_AUTH: 'keys' });
  const admin = await keyed('admin');
  const { id, refused } = JSON.parse(await program(api.url, admin.key ?? ''));
  expect(refused).toBe('lease_lost');
  expect((await admin.get(`/v1/tickets/${id}`)).body).toMatchObject({
    ...{ queue: 'reports', state: 'decided', priority: 3, requires: ['en'], body: { text: 'Followers for sale' } },
    ...{ decidedBy: 'anna', decision: { verdict: 'remove' } },
  });
}

const GENERATOR = 'openapi-generator-cli.jar';

/** The generator and the libraries. */
const libraries = () =>
  cachedFolder('java-generator', readFileSync(here('java/pom.xml'), 'utf8'), async (dir) => {
    needDebian('maven');
    await run('mvn', ['-B', '-q', '-f', here('java/pom.xml'), 'dependency:copy', `-DoutputDirectory=${dir}`], dir);
  });

const filesIn = (dir: string, end: string) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(end))
    .map((file) => join(dir, file));

const JAVA_OPTIONS = {
  ...{ library: 'native', apiPackage: 'docket.api', modelPackage: 'docket.model', invokerPackage: 'docket' },
  ...{ openApiNullable: 'false', useJakartaEe: 'true' },
};

test('S3.5 openapi-generator for Java: all of it compiles; add, claim, decide', async () => {
  needDebian('default-jdk-headless');
  const jars = await libraries();
  const dir = folder('java');
  const properties = Object.entries(JAVA_OPTIONS).map(([name, value]) => `${name}=${value}`);
  const wanted = ['-g', 'java', '-i', DOCUMENT, '-o', dir, '--additional-properties', properties.join(',')];
  const global = [
    '--global-property',
    'models,apis,supportingFiles,modelDocs=false,apiDocs=false,modelTests=false,apiTests=false',
  ];
  await run('java', ['-jar', join(jars, GENERATOR), 'generate', ...wanted, ...global], dir);
  const sources = filesIn(join(dir, 'src/main/java'), '.java');
  const operations = sources.filter((file) => file.endsWith('Api.java')).map((file) => readFileSync(file, 'utf8'));
  const isThere = (operation: string) => operations.some((text) => text.includes(` ${operation}(`));
  expect(endpoints.map(({ operation }) => operation).filter((operation) => !isThere(operation))).toEqual([]);
  const path = filesIn(jars, '.jar').filter((file) => !file.endsWith(GENERATOR));
  const classes = join(dir, 'classes');
  const compiled = ['-nowarn', '-proc:none', '-d', classes, '-cp', path.join(':'), here('java/Main.java'), ...sources];
  await run('javac', compiled, dir);
  await expectDecided((url, key) => run('java', ['-cp', [classes, ...path].join(':'), 'Main', url, key], dir));
}, 900_000);

const packages = readFileSync(here('python/requirements.txt'), 'utf8').trim().split('\n');

test('S3.5 openapi-python-client: all is generated and imported; add, claim, decide', async () => {
  const python = pythonWith(inject('cacheDir'), 'openapi-python-client', packages);
  const dir = folder('python');
  const config = join(dir, 'config.yml');
  // formatting what nobody reads takes longer than to generate it
  writeFileSync(config, 'package_name_override: docket_api\npost_hooks: []\n');
  const generator = join(dirname(python), 'openapi-python-client');
  const options = ['--meta', 'none', '--output-path', join(dir, 'docket_api'), '--config', config];
  let said = '';
  await run(generator, ['generate', '--path', DOCUMENT, ...options], dir, (text) => {
    said = text;
  });
  // it does not know newline-delimited JSON
  expect(said.match(/WARNING.*|ERROR.*/g), said).toEqual(['WARNING parsing GET /v1/feed within feed.']);
  const program = (file: string, ...args: string[]) =>
    run(
      python,
      [
        '-B',
        '-c',
        `import sys; sys.path[0:1] = [${JSON.stringify(dir)}]; exec(open(${JSON.stringify(here(`python/${file}`))}).read())`,
        ...args,
      ],
      dir,
    );
  const { operations, models } = JSON.parse(await program('import_all.py'));
  expect(operations).toBe(endpoints.length);
  expect(models).toBeGreaterThan(100);
  await expectDecided((url, key) => program('program.py', url, key));
}, 600_000);

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
  const program = readFileSync(here('typescript/program.ts'), 'utf8');
  writeFileSync(join(dir, 'program.ts'), program.replace(CLIENT, './openapi.ts'));
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(OPTIONS));
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
  await run(bin('tsc'), ['-p', '.'], dir);
  await expectDecided((url, key) => run(process.execPath, [join(dir, 'dist', 'program.js'), url, key], dir));
}, 180_000);
