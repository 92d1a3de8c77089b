import { ALL, needDebian } from './support/debian.ts';

// Before the full suite: what it lacks is installed, or named at once.
try {
  needDebian(...ALL);
} catch (error) {
  process.stderr.write(`npm run test:full: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
