import { Failed, needServer } from './demo/call.ts';
import { court } from './demo/court.ts';
import { liveOn } from './demo/life.ts';
import { leaveOpen } from './demo/open.ts';
import { posts } from './demo/posts.ts';
import { tasks } from './demo/tasks.ts';
import { tickets } from './demo/tickets.ts';
import { script } from './usage.ts';

// Drives a running Docket with real data. Only the public API is used. `--forever` keeps it moving afterwards.

const demo = script(
  'npm run demo --',
  `Drives a running Docket with real data: reviewers decide tickets, jurors judge cases and
a group pulls tasks. Some of each is left open, to look at in the console.`,
)
  .option('--forever', 'keep it moving afterwards, until Ctrl-C', false)
  .addHelpText(
    'after',
    `
Environment:
  DOCKET_URL  URL of the server (default: http://127.0.0.1:PORT)
  PORT        its port on this machine (default: 3000)
  DOCKET_KEY  an administrator's API key, for a server that asks for keys

Examples:
  # against npm start
  npm run demo
  # against a server that asks for keys; its key: npx docket key create --role admin
  DOCKET_KEY=docket_… npm run demo`,
  );
const { forever } = demo.parse().opts<{ forever: boolean }>();

try {
  await needServer();
  await tickets();
  await court();
  await tasks();
  await leaveOpen();
  await posts();
  if (forever) await liveOn();
} catch (error) {
  if (!(error instanceof Failed)) throw error;
  console.error(`\n${error.message}`);
  process.exit(1);
}
