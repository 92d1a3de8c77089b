import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, inject, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { pythonWith } from '../support/python.ts';
import { DOCUMENT, expectDecided, folder, run } from './generated.ts';

const here = (file: string) => resolve('test/generators/python', file);
const packages = readFileSync(here('requirements.txt'), 'utf8').trim().split('\n');

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
        `import sys; sys.path[0:1] = [${JSON.stringify(dir)}]; exec(open(${JSON.stringify(here(file))}).read())`,
        ...args,
      ],
      dir,
    );
  const { operations, models } = JSON.parse(await program('import_all.py'));
  expect(operations).toBe(endpoints.length);
  expect(models).toBeGreaterThan(100);
  await expectDecided((url, key) => program('program.py', url, key));
}, 600_000);
