import { Hono } from 'hono';
import { Problem } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import { type ApiBindings, type ApiContext, Departure } from '../endpoint.ts';
import { framing, type Outcome } from '../frame.ts';
import { end, failed, finish, get, pop, push, Refused } from './calls.ts';

const CALLS = { '/push': push, '/pop': pop, '/finish': finish, '/delete': end, '/get': get };

/**
 * The HTTP API of the Go delay-queue (docs/delay-queue.md), in the same frame as the API's own calls.
 * @param loopbackOnly whether it listens on this machine only
 */
export async function createDelayQueue(api: Api, loopbackOnly: boolean): Promise<Hono<{ Bindings: ApiBindings }>> {
  // it knows no keys, so a web page could call it on its reader's own machine
  const framed = await framing(api, { loopbackNames: loopbackOnly, ownPages: true });
  const problemAnswer = ({ status, message }: Problem) => ({ status, body: failed(message) });
  const app = new Hono<{ Bindings: ApiBindings }>();
  for (const [path, work] of Object.entries(CALLS)) {
    const answer = (c: ApiContext) => {
      c.env.caller = 'delay-queue';
      const call = { api, incoming: c.env.incoming, caller: c.env.caller, signal: new Departure(c) };
      return answered(() => work(call));
    };
    app.post(path, framed({ path: `delay-queue ${path}`, problemAnswer, work: answer }));
  }
  const unknown = () => {
    throw new Problem('not_found', 'there is POST /push, /pop, /finish, /delete and /get');
  };
  app.notFound(framed({ path: 'delay-queue *', problemAnswer, work: unknown }));
  return app;
}

/** A rejection is an answer with status 200, too. */
async function answered(work: () => Promise<object>): Promise<Outcome> {
  try {
    return { status: 200, body: await work() };
  } catch (error) {
    if (error instanceof Refused) return { status: 200, body: failed(error.message) };
    throw error;
  }
}
