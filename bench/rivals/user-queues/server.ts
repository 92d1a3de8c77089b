import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Redis } from 'ioredis';
import pg from 'pg';
import { userQueues } from './scheme.ts';

// The rival of bench/tasks/pulls.ts, on the HTTP server that Docket has, with a pool of the same size.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const redis = new Redis({ port: Number(process.env.REDIS_PORT), host: '127.0.0.1' });
const scheme = userQueues(pool, redis);

const app = new Hono();
app.post('/v1/clients/:uid/next', async (c) => {
  await c.req.json();
  return c.json(await scheme.next(c.req.param('uid')));
});
app.post('/v1/clients/:uid/complete', async (c) => {
  const { logId, result } = await c.req.json();
  const completed = await scheme.complete(c.req.param('uid'), logId, result);
  return completed ? c.json({ logId, completedAt: completed }) : c.json({ code: 'stale_log_id' }, 409);
});
app.patch('/v1/tasks/:id', async (c) => {
  const { dispatchTimes, params } = await c.req.json();
  await scheme.changeTask(c.req.param('id'), dispatchTimes, params);
  return c.json({});
});
app.delete('/v1/tasks/:id', async (c) => {
  await scheme.deleteTask(c.req.param('id'));
  return c.json({});
});
app.post('/v1/groups/:gid/members', async (c) => {
  const { add, remove } = await c.req.json();
  await scheme.changeGroup(c.req.param('gid'), add, remove);
  return c.json({});
});

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`ready on http://127.0.0.1:${port}`),
);
process.on('SIGTERM', () => {
  server.close();
  if ('closeAllConnections' in server) server.closeAllConnections();
  redis.disconnect();
  void pool.end();
});
