import { afterAll } from 'vitest';
import { endFile } from './endings.ts';

// vitest runs this file anew before each test file, so its hook is the last of all
afterAll(endFile);
