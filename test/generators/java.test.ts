import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { cachedFolder } from '../support/cached.ts';
import { needDebian } from '../support/debian.ts';
import { DOCUMENT, expectDecided, folder, run } from './generated.ts';

const GENERATOR = 'openapi-generator-cli.jar';
const here = (file: string) => resolve('test/generators/java', file);

/** The generator and the libraries. */
const libraries = () =>
  cachedFolder('java-generator', readFileSync(here('pom.xml'), 'utf8'), async (dir) => {
    needDebian('maven');
    await run('mvn', ['-B', '-q', '-f', here('pom.xml'), 'dependency:copy', `-DoutputDirectory=${dir}`], dir);
  });

const filesIn = (dir: string, end: string) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(end))
    .map((file) => join(dir, file));

const OPTIONS = {
  ...{ library: 'native', apiPackage: 'docket.api', modelPackage: 'docket.model', invokerPackage: 'docket' },
  ...{ openApiNullable: 'false', useJakartaEe: 'true' },
};

test('S3.5 openapi-generator for Java: all of it compiles; add, claim, decide', async () => {
  needDebian('default-jdk-headless');
  const jars = await libraries();
  const dir = folder('java');
  const properties = Object.entries(OPTIONS).map(([name, value]) => `${name}=${value}`);
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
  const compiled = ['-nowarn', '-proc:none', '-d', classes, '-cp', path.join(':'), here('Main.java'), ...sources];
  await run('javac', compiled, dir);
  await expectDecided((url, key) => run('java', ['-cp', [classes, ...path].join(':'), 'Main', url, key], dir));
}, 900_000);
