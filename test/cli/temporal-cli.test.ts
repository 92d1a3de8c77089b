import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { findTemporalCli } from '../../cli/servers/temporal-cli.ts';
import { folder } from '../support/cli.ts';

afterEach(() => void vi.unstubAllEnvs());

test('S0.9 a download that was interrupted is not taken for the program', async () => {
  vi.stubEnv('PATH', '');
  const cacheDir = mkdtempSync(join(folder, 'cache-'));
  const downloads = join(cacheDir, 'download');
  mkdirSync(downloads);
  // files are listed by their names
  writeFileSync(join(downloads, 'temporal-sdk-typescript-1.0.0.downloading'), 'a part of it');
  writeFileSync(join(downloads, 'temporal-sdk-typescript-1.1.0'), 'all of it');
  const found = await findTemporalCli({ given: undefined, cacheDir, say: () => {} });
  expect(found).toBe(join(downloads, 'temporal-sdk-typescript-1.1.0'));
});
