import { spawnSync } from 'node:child_process';
import { expect, inject, test } from 'vitest';
import { startTestSystem } from '../support/system.ts';
import { pythonKit } from './kits.ts';
import { testClient } from './scenarios/all.ts';

const kit = pythonKit(inject('cacheDir'));
testClient(await startTestSystem(), await startTestSystem({}, { role: 'api' }), kit);

/** What Python prints when run in the client's folder. */
function python(...args: string[]): string {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout, stderr } = spawnSync(kit.command[0] ?? '', args, { encoding: 'utf8', cwd: 'clients/python', env });
  return stdout + stderr;
}

test('S3.5 its types are right', () => {
  const options = ['--cache-dir', '/dev/null', '--config-file', 'pyproject.toml'];
  expect(python('-m', 'mypy', ...options, 'src')).toContain('Success: no issues');
});

test('S3.5 Python 3.9 can read it', () => {
  const each = 'for p in pathlib.Path("src").rglob("*.py")';
  expect(python('-c', `import ast, pathlib; [ast.parse(p.read_text(), feature_version=(3, 9)) ${each}]`)).toBe('');
});
