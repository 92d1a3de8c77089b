import { parseArgs } from 'node:util';
import { base, call } from './demo/call.ts';
import { court } from './demo/court.ts';
import { liveOn } from './demo/life.ts';
import { leaveOpen } from './demo/open.ts';
import { tasks } from './demo/tasks.ts';
import { tickets } from './demo/tickets.ts';

// Drives a running Docket with real data. Only the public API is used. `--forever` keeps it moving afterwards.

const { values } = parseArgs({ options: { forever: { type: 'boolean', default: false } } });
await call('GET', '/livez').catch(() => {
  console.error(`Nothing answers at ${base}. Start Docket first: npm start`);
  process.exit(1);
});
await tickets();
await court();
await tasks();
await leaveOpen();
if (values.forever) await liveOn();
