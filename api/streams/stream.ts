import { z } from '@hono/zod-openapi';
import { AnyName } from '../../contract/names.ts';
import { queueStatsView } from '../../domain/tickets.ts';
import type { Notice } from '../../runtime/notices.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as keys from '../../services/access/keys.ts';
import * as queues from '../../services/items/queues.ts';
import { invalid, Problem } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import { boundTo, type Caller, personOf } from '../auth.ts';
import { answer, endpoint } from '../endpoint.ts';
import { checkNames, inScope } from '../scopes.ts';
import { type EventStream, eventStream } from './sse.ts';

const EventId = z.string().regex(/^\d{0,15}$/, 'must be the id of an event');
const AVAILABLE_MS = 1_000;

export const streamEndpoint = endpoint('openStream', 'GET /v1/stream', {
  tag: 'Streams',
  summary: 'Server-sent events: lease_lost and changed for a reviewer or juror; these, available and stats for a queue',
  roles: ['reviewer', 'agent', 'producer', 'supervisor'],
  scope: 'handler',
  takesTicket: true,
  query: z.object({
    reviewer: AnyName.optional(),
    juror: AnyName.optional(),
    queue: AnyName.optional(),
    ticket: z.string().max(200).optional(),
    lastEventId: EventId.optional().describe('Instead of the header Last-Event-ID'),
  }),
  answers: { 200: z.string() },
  media: 'text/event-stream',
  async handle({ api, caller, query, header, signal, incoming }) {
    if (query.queue !== undefined) checkNames(caller, [query.queue]);
    const named = [query.reviewer, query.juror, query.queue].filter((name) => name !== undefined);
    if (named.length > 1 || (named.length === 0 && caller.role !== 'reviewer'))
      throw invalid('reviewer', 'give either reviewer, juror or queue');
    const sent = header('last-event-id') ?? query.lastEventId;
    const lastSeen = EventId.safeParse(sent).success && sent ? Number(sent) : undefined;
    const { queue } = query;
    const of = queue === undefined ? { person: personOf(caller, query.reviewer ?? query.juror) } : { queue };
    // the answer to HEAD is never read or cancelled
    if (incoming.method === 'HEAD') return new Response(null, { headers: { 'content-type': 'text/event-stream' } });
    if (of.queue !== undefined) return queueStream(api, caller, of.queue, lastSeen, signal);
    return eventStream(signal, allowed(api, caller), async (stream) => {
      const wanted = (n: Notice) => n.person === of.person && inScope(caller, n.queue);
      const following = { of, wanted, lastSeen, ...writing(stream) };
      return (await api.ctx.notices.follow(following)).stop;
    });
  },
});

/** Writes notices to a stream. Other events carry the id of the notice before them. */
const writing = (stream: EventStream) => ({
  begin: (position: number) => stream.begin(String(position)),
  send: ({ seq, type, kind, item_id, data }: Notice) => stream.send(type, { kind, id: item_id, ...data }, String(seq)),
});

/** Until the key ends. While the database cannot be reached, the stream stays open. */
const allowed = (api: Api, caller: Caller) => () => api.auth.isLive(caller).catch(() => true);

/** A queue's events for supervisors and idle reviewers. Reviewers see only their own leases in it. */
function queueStream(api: Api, caller: Caller, queue: string, lastSeen: number | undefined, signal: Gone) {
  return eventStream(signal, allowed(api, caller), async (stream) => {
    const watchAll = caller.role !== 'reviewer';
    const wanted = (n: Notice) => n.kind === 'ticket' && n.queue === queue && (watchAll || n.person === caller.subject);
    const notices = await api.ctx.notices.follow({ of: { queue }, wanted, lastSeen, ...writing(stream) });
    let quiet = false;
    const stopWatching = api.ctx.waiters.watch((key) => {
      if (key !== `ticket/${queue}` || quiet) return;
      quiet = true;
      setTimeout(() => {
        quiet = false;
      }, AVAILABLE_MS).unref();
      stream.send('available', { queue }, String(notices.position()));
    });
    let last = '';
    const unwatch = await queues.watchStats(api.ctx, queue, boundTo(caller), (row) => {
      const stats = queueStatsView(row);
      const text = JSON.stringify({ ...stats, oldestWaitingSeconds: null });
      if (text === last) return;
      last = text;
      stream.send('stats', { queue, ...stats }, String(notices.position()));
    });
    return () => {
      unwatch();
      notices.stop();
      stopWatching();
    };
  });
}

export const streamTicketEndpoint = endpoint('addStreamTicket', 'POST /v1/stream-tickets', {
  tag: 'Streams',
  summary:
    "A ticket that stands for my key in an event stream's URL: to be used within 60 s, then while its stream lasts and 10 minutes longer",
  roles: ['reviewer', 'agent', 'producer', 'consumer', 'supervisor'],
  scope: 'any',
  answers: { 201: z.object({ ticket: z.string(), expiresAt: z.string() }) },
  async handle({ ctx, caller }) {
    if (caller.id === 'open') throw new Problem('forbidden', 'this server asks for no key');
    const { id, actor, role, subject, session } = caller;
    const holder = { id, actor, role, subject, session };
    const { ticket, expiresAt } = await keys.createStreamTicket(ctx, holder);
    return answer(201, { ticket, expiresAt: expiresAt.toISOString() });
  },
});
