import { base, call } from './demo/call.ts';
import { court } from './demo/court.ts';
import { tasks } from './demo/tasks.ts';
import { tickets } from './demo/tickets.ts';

// Drives a running Docket with real data. Only the public API is used.

await call('GET', '/livez').catch(() => {
  console.error(`Nothing answers at ${base}. Start Docket first: npm start`);
  process.exit(1);
});
await tickets();
await court();
await tasks();
