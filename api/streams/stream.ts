import { z } from '@hono/zod-openapi';
import { Name } from '../../contract/common.ts';
import type { Notice } from '../../db/link.ts';
import { type Caller, personOf } from '../auth.ts';
import type { Api } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import { invalid, Problem } from '../problems.ts';
import { statsOf } from '../queues/stats.ts';
import { type EventStream, eventStream } from './sse.ts';

const STATS_MS = 2_000;
const AVAILABLE_MS = 1_000;

export const streamEndpoint = endpoint({
  method: 'get',
  path: '/v1/stream',
  tag: 'Streams',
  summary: 'Server-sent events: lease_lost and changed for a reviewer or juror; these, available and stats for a queue',
  roles: ['reviewer', 'agent', 'producer'],
  takesTicket: true,
  query: z.object({
    reviewer: Name.optional(),
    juror: Name.optional(),
    queue: Name.optional(),
    ticket: z.string().max(200).optional(),
  }),
  answers: { 200: z.string().openapi({ description: 'text/event-stream' }) },
  async handle({ api, caller, query, header, signal }) {
    const named = [query.reviewer, query.juror, query.queue].filter((name) => name !== undefined);
    if (named.length > 1 || (named.length === 0 && caller.role !== 'reviewer'))
      throw invalid('reviewer', 'give either reviewer, juror or queue');
    const lastSeen = Number(header('last-event-id') ?? Number.NaN);
    if (query.queue !== undefined) return queueStream(api, caller, query.queue, signal);
    const reviewer = personOf(caller, query.reviewer ?? query.juror);
    return eventStream(signal, allowed(api, caller), async (stream) => {
      const write = (n: Notice) => n.person === reviewer && send(stream, n);
      const stop = await api.engine.notices.listen(write);
      try {
        if (Number.isSafeInteger(lastSeen))
          for (const missed of await api.engine.notices.missed(lastSeen, reviewer)) send(stream, missed);
      } catch (error) {
        stop();
        throw error;
      }
      return stop;
    });
  },
});

/** Until the key is revoked; while the database can't be asked, nothing changes. */
const allowed = (api: Api, caller: Caller) => () => api.auth.isLive(caller).catch(() => true);

/** What a queue's supervisors and idle reviewers want to know; who held what is for the former only. */
function queueStream(api: Api, caller: Caller, queue: string, signal: AbortSignal): Promise<Response> {
  return eventStream(signal, allowed(api, caller), async (stream) => {
    const watchAll = caller.role !== 'reviewer';
    const stopNotices = await api.engine.notices.listen((n) => {
      if (n.kind === 'ticket' && n.queue === queue && (watchAll || n.person === caller.subject)) send(stream, n);
    });
    let quiet = false;
    const stopWatching = api.engine.waiters.watch((key) => {
      if (key !== `ticket/${queue}` || quiet) return;
      quiet = true;
      setTimeout(() => {
        quiet = false;
      }, AVAILABLE_MS).unref();
      stream.send('available', { queue });
    });
    let last = '';
    const sendStats = async () => {
      const stats = await statsOf(api, queue).catch(() => null);
      const text = JSON.stringify({ ...stats, oldestWaitingSeconds: null });
      if (stats === null || text === last) return;
      last = text;
      stream.send('stats', { queue, ...stats });
    };
    await sendStats();
    const timer = setInterval(sendStats, STATS_MS);
    return () => {
      clearInterval(timer);
      stopNotices();
      stopWatching();
    };
  });
}

function send(stream: EventStream, { seq, type, kind, item_id, data }: Notice): void {
  stream.send(type, { kind, id: item_id, ...data }, String(seq));
}

export const streamTicketEndpoint = endpoint({
  method: 'post',
  path: '/v1/stream-tickets',
  tag: 'Streams',
  summary: "A ticket that stands for my key in an event stream's URL, for 60 s",
  roles: ['reviewer', 'agent', 'producer', 'consumer'],
  answers: { 201: z.object({ ticket: z.string(), expiresAt: z.string() }) },
  async handle({ api, caller }) {
    if (caller.id === 'open') throw new Problem('forbidden', 'this server asks for no key');
    const { ticket, expiresAt } = await api.auth.streamTicket(caller);
    return { status: 201, body: { ticket, expiresAt: expiresAt.toISOString() } };
  },
});
