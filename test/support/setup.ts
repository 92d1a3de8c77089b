import { afterAll, vi } from 'vitest';
import { endFile } from './endings.ts';

// vitest runs this before each file, so its hooks are the last of the file
afterAll(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.resetConfig();
  await endFile();
});
