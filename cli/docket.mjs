#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { isCompiled } from './servers/compiled.mjs';

// Compiled code where it is: beside this file in dist/ and in the image, or in dist/ if that is of these sources. Else
// the sources, for which Node 20 needs a loader; both do the same, compiled code starts in half the CPU time.
if (existsSync(new URL('main.js', import.meta.url))) await import('./main.js');
else if (isCompiled()) await import('../dist/cli/main.js');
else {
  const { register } = await import('tsx/esm/api');
  register();
  await import('./main.ts');
}
