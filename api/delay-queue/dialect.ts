import type { Problem } from '../../services/shared/problems.ts';
import type { Dialect, DialectCall, DialectRoute } from '../dialects.ts';
import type { Outcome } from '../frame.ts';
import { failed, Refused } from './answers.ts';
import { end, finish, get, pop, push } from './calls.ts';

/** What it refuses is an answer, too, and has the status of one. */
const answering =
  (work: (call: DialectCall) => Promise<object>) =>
  async (call: DialectCall): Promise<Outcome> => {
    try {
      return { status: 200, body: await work(call) };
    } catch (error) {
      if (error instanceof Refused) return { status: 200, body: failed(error.message) };
      throw error;
    }
  };

const routes: DialectRoute[] = [
  { method: 'POST', path: '/push', work: answering(push) },
  { method: 'POST', path: '/pop', work: answering(pop) },
  { method: 'POST', path: '/finish', work: answering(finish) },
  { method: 'POST', path: '/delete', work: answering(end) },
  { method: 'POST', path: '/get', work: answering(get) },
];

/**
 * The HTTP API of the Go delay-queue (docs/delay-queue.md).
 * @param loopbackOnly whether it listens on this machine only
 */
export const delayQueueDialect = (loopbackOnly: boolean): Dialect => ({
  name: 'delay-queue',
  // it knows no keys, so a web page could call it on its reader's own machine
  guard: { loopbackNames: loopbackOnly, ownPages: true },
  routes,
  problemAnswer: ({ status, message }: Problem) => ({ status, body: failed(message) }),
  unknownPath: 'there is POST /push, /pop, /finish, /delete and /get',
});
