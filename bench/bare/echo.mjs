import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

// What bench/scenarios/api-cpu.ts compares the API with: the same server and framework, which read the same bodies and
// write the same answers, and do nothing else. JavaScript as it is, so that no loader weighs on it.
const answers = JSON.parse(process.env.ANSWERS);
const pauseMs = Number(process.env.PAUSE_MS ?? 0);
let pause;

/** Waits with all others that have come meanwhile, as calls wait for a statement that is about all of them. */
function paused() {
  pause ??= sleep(pauseMs).then(() => {
    pause = undefined;
  });
  return pause;
}

const app = new Hono();
if (pauseMs > 0)
  app.use(async (_, next) => {
    await paused();
    await next();
  });
app.post('/v1/queues/:queue/claim', async (c) => {
  await c.req.json();
  return c.json(answers.claim);
});
app.post('/v1/tickets/:id/decide', async (c) => {
  await c.req.json();
  return c.json(answers.decide);
});

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`ready on http://127.0.0.1:${port}`),
);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
