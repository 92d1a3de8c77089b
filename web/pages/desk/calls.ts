import { api, data, get, type Schemas } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import type { Cause, Held, Pending } from './shelf.ts';

/** Such a call goes on when its tab is closed; browsers do that for 64 KB of bodies together. */
const lasting = (sent: unknown) => ({ keepalive: JSON.stringify(sent).length < 15_000 });

export type Calls = ReturnType<typeof callsOf>;

/** Who works where, with what skills. */
export interface Who {
  queue: string;
  reviewer: string;
  skills: string[];
}

/** What a desk asks of the API, for one reviewer at one queue. */
export function callsOf({ queue, reviewer, skills }: Who) {
  const at = (id: string) => ({ path: { id } });
  return {
    reviewer,
    claim: (count: number, waitSeconds: number, signal: AbortSignal) =>
      api.POST('/v1/queues/{queue}/claim', {
        params: { path: { queue } },
        body: { reviewer, skills, count, waitSeconds },
        signal,
      }),
    decide: ({ held: { ticket, token }, decision, version }: Pending, next: boolean) =>
      api.POST('/v1/tickets/{id}/decide', {
        params: at(ticket.id),
        body: { token, decision: decision as Schemas['Decide']['decision'], version, next, skills },
        ...lasting(decision),
      }),
    keep: ({ ticket, token }: Held, draft: unknown) =>
      data(api.PUT('/v1/tickets/{id}/draft', { params: at(ticket.id), body: { token, draft }, ...lasting(draft) })),
    renew: (id: string, token: string) => api.POST('/v1/tickets/{id}/renew', { params: at(id), body: { token } }),
    release: ({ ticket, token }: Held, how: { skip?: boolean; unseen?: boolean; reason?: string }) =>
      data(
        api.POST('/v1/tickets/{id}/release', {
          params: at(ticket.id),
          body: { token, delaySeconds: 0, skip: false, unseen: false, ...how },
          keepalive: true,
        }),
      ),
    transfer: ({ ticket, token }: Held, to: string, reason: string) =>
      data(
        api.POST('/v1/tickets/{id}/transfer', {
          params: at(ticket.id),
          body: { token, queue: to, ...(reason && { reason }) },
        }),
      ),
    get: (id: string) => get('/v1/tickets/{id}', at(id)),
    /** Of a transfer it may be the queue that is not found. */
    isThere: (id: string) =>
      get('/v1/tickets/{id}', at(id)).then(
        () => true,
        (error) => problemOf(error).code !== 'not_found',
      ),
    /** Why a ticket is not the reviewer's any more, as far as it shows. */
    causeIn: ({ state, decidedBy, invalidation }: Schemas['Ticket']): Cause => ({
      reason: state === 'waiting' || state === 'held' || state === 'delayed' ? 'expired' : state,
      by: decidedBy ?? invalidation?.by ?? null,
    }),
  };
}

/** Why the ticket is lost, if that is what a problem says; null: it may still be the reviewer's. */
export function causeOf({ code, state, by, reason }: Problem): Cause | null {
  const word = (value: unknown) => (typeof value === 'string' ? value : null);
  if (code === 'not_open') return { reason: word(state) ?? 'invalidated', by: word(by) };
  if (code === 'lease_lost') return { reason: word(reason) ?? 'expired', by: null };
  return code === 'not_found' ? { reason: 'gone', by: null } : null;
}
