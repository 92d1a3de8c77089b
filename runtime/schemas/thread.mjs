// On Node 20 TypeScript needs a loader, in each thread of its own.
import { register } from 'tsx/esm/api';

register();
await import('./thread.ts');
