import { invalid, Problem } from '../services/shared/problems.ts';
import { idFromKey } from '../services/shared/tokens.ts';
import { type Adding, addMany, addTo, type Entry } from './adding.ts';
import { bodyOf, type Call, forward, inTurn, read, withValue } from './forward.ts';
import type { Docket, Place, Places, Scope } from './places.ts';

/** A call whose path names a queue, a topic or a court. @param action what follows the name */
export function named(places: Places, scope: Scope, action: string, call: Call): Promise<Response> {
  const body = bodyOf(call);
  if (body && call.method === 'POST') {
    if (action === 'tickets' || action === 'cases') return addTo(places, call, addingTo(scope, call), body);
    if (action === 'tickets/batch') return addBatch(places, scope, call, body, 'tickets');
    if (action === 'cases/batch') return addBatch(places, scope, call, body, 'cases');
  }
  if (scope.startsWith('court/') && action === '' && call.method === 'PUT') checkFallback(places, scope, body);
  const { to, from } = places.of(scope);
  return from ? ofMoved({ to, from }, scope, action, call, body) : forward(to, call);
}

function addBatch(places: Places, scope: Scope, call: Call, body: Entry, field: string): Promise<Response> {
  const entries = body[field];
  if (!Array.isArray(entries)) return forward(places.of(scope).to, call);
  return addMany(places, call, addingTo(scope, call), entries, (some) => ({ ...body, [field]: some }));
}

/** The key's own id, as in its text: ids that stand for an `Idempotency-Key` are made of it. */
const KEY_ID = /^Bearer +docket_([0-9a-f]{12})_/i;

function addingTo(scope: Scope, { headers }: Call): Adding {
  const [noun, kind] = scope.startsWith('queue/') ? (['tickets', 'ticket'] as const) : (['cases', 'case'] as const);
  const caller = KEY_ID.exec(headers.get('authorization') ?? '')?.[1] ?? 'open';
  const key = headers.get('idempotency-key');
  return {
    noun,
    idOf({ id }) {
      if (typeof id === 'string') return id;
      return key === null ? undefined : idFromKey(caller, kind, key);
    },
    scopeOf: () => scope,
    lineOf: (entry, { status, code, message }) => {
      const id = (entry as { id?: unknown } | null)?.id;
      return { id: typeof id === 'string' ? id : null, httpStatus: status, code, detail: message };
    },
  };
}

/** @throws Problem 422 where what hangs would have to go to another Docket */
function checkFallback(places: Places, scope: Scope, body: Entry | undefined): void {
  const fallback = body?.fallback as { court?: unknown; queue?: unknown } | null | undefined;
  const target =
    fallback?.court === undefined ? (`queue/${fallback?.queue}` as const) : (`court/${fallback.court}` as const);
  if (!fallback || target === 'queue/undefined') return;
  const [here, there] = [places.of(scope).to, places.of(target).to];
  if (here.name !== there.name)
    throw invalid('fallback', `${target} is on Docket ${there.name}, and ${scope} on ${here.name}`);
}

/**
 * While it is being moved: work is handed out from where it was first, settings are changed in both places, and the rest is
 * asked of where it goes to.
 */
async function ofMoved(
  { to, from }: Required<Place>,
  scope: Scope,
  action: string,
  call: Call,
  body: Entry | undefined,
): Promise<Response> {
  if (action === 'claim' && body) return claim({ to, from }, call, body);
  if (action.startsWith('schedules') && call.method !== 'GET')
    throw new Problem(
      'unavailable',
      `${scope} is being moved from ${from.name} to ${to.name}: change its schedules afterwards`,
    );
  if (call.method === 'GET' || action === 'explain') return forward(to, call);
  const first = await read(await forward(from, call));
  if (!first.value && first.answer.status !== 204) return first.answer;
  const second = await read(await forward(to, call));
  return action === 'invalidate' && second.value
    ? withValue(second, sum(first.value ?? {}, second.value))
    : second.answer;
}

const isEmpty = (value: Entry) =>
  'case' in value ? value.case === null : Array.isArray(value.tickets) && value.tickets.length === 0;

function claim({ to, from }: Required<Place>, call: Call, body: Entry): Promise<Response> {
  const { waitSeconds = 0 } = body;
  if (typeof waitSeconds !== 'number' || waitSeconds < 0 || waitSeconds > 60) return forward(to, call);
  const sourceOf = (docket: Docket, grows: boolean) => ({
    ask: (turn: number) =>
      forward(docket, call, { body: { ...body, ...('waitSeconds' in body && { waitSeconds: turn }) } }),
    grows,
  });
  return inTurn([sourceOf(from, false), sourceOf(to, true)], waitSeconds, isEmpty);
}

const sum = (some: Entry, others: Entry): Entry =>
  Object.fromEntries(
    Object.entries(others).map(([name, n]) => [name, typeof n === 'number' ? n + Number(some[name] ?? 0) : n]),
  );
