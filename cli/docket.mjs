#!/usr/bin/env node
// On Node 20 TypeScript needs a loader; later ones could do without.
import { register } from 'tsx/esm/api';

register();
await import('./main.ts');
