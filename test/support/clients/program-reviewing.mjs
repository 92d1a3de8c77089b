// Reviews tickets with the TypeScript client as a test says: program-reviewing.mjs review|ticketCalls JSON
import { setTimeout as sleep } from 'node:timers/promises';
import { Release, ReviewerLoop, Skip } from '@docket/client';
import { all, asked, client, clientOf, named, refusal, run, say } from './program-common.mjs';

async function handler({ id, attempts, body }, { signal }) {
  say({ began: id, attempt: attempts, at: Date.now() / 1000 });
  if (body?.untilLost) {
    while (!signal.aborted) await sleep(50);
    say({ lost: id });
    return { of: id };
  }
  await sleep((body?.seconds ?? 0) * 1000);
  if (attempts <= (body?.failures ?? 0)) {
    if (body.fail === 'skip') throw new Skip('as asked');
    if (body.fail === 'release') throw new Release(body.delay);
    throw new Error('as asked');
  }
  say({ ended: id });
  return { of: id };
}

async function review() {
  const { queue, reviewer, skills, concurrency, waitSeconds = 1, backoffSeconds } = asked;
  const onError = (error, ticket) => say({ error: error.name, text: error.message, ticket: ticket?.id });
  const backoff = backoffSeconds === undefined ? undefined : () => backoffSeconds;
  const loop = new ReviewerLoop(client, {
    ...{ queue, reviewer, skills, concurrency, waitSeconds, handler, backoff, onError },
  });
  process.once('SIGTERM', () => loop.stop());
  say({ ready: true });
  await loop.run();
}

/** More than one call takes, by number and by size. */
async function many(bulkQueue, largeQueue) {
  const { tickets } = client;
  const bulk = Array.from({ length: 1005 }, (_, n) => ({ id: `${bulkQueue}-${n}`, body: n }));
  const large = Array.from({ length: 45 }, () => ({ body: 'x'.repeat(190_000) }));
  const results = await tickets.addMany(bulkQueue, bulk);
  const largeResults = await tickets.addMany(largeQueue, large);
  const listed = await all(tickets.list({ queue: bulkQueue, state: 'waiting' }));
  return {
    bulk: results.filter((result) => result.httpStatus === 201).length,
    inOrder: results.every((result, n) => result.id === bulk[n].id),
    large: largeResults.filter((result) => result.httpStatus === 201).length,
    listed: new Set(listed.map((ticket) => ticket.id)).size,
  };
}

async function ticketCalls() {
  const { queue } = asked;
  const { tickets } = client;
  const id = (n) => `${queue}-${n}`;
  const settings = await tickets.putQueue(queue, { leaseSeconds: 60, maxHeld: 3 });
  const one = { id: id(1), body: { a: [1, 'ä', null] }, priority: 5 };
  const added = [await tickets.add(queue, one), await tickets.add(queue, one)];
  const unnamed = await tickets.add(queue, { body: 'no id' });
  const mixed = await tickets.addMany(queue, [
    { id: id(2), body: null, priority: 4 },
    { id: 'not a name', body: null },
    { id: id(3), body: null, priority: 3 },
  ]);

  const { tickets: held } = await tickets.claim(queue, { reviewer: 'rita', count: 2 });
  const renewed = await tickets.renew(held[1]);
  const decided = await tickets.decide(held[0], { ok: true }, { next: true });
  const again = await tickets.decide(held[0], { ok: true }, { next: true });
  const released = await tickets.release(held[1], { skip: true, reason: 'not mine' });
  const lost = await tickets.renew(held[1]).catch((error) => error);
  const closed = await tickets.decide(held[0], { ok: false }).catch((error) => error);
  const none = await tickets.claim(queue, { reviewer: 'rolf', skills: ['none'], count: 9 });
  const empty = await tickets.claim(`${queue}-empty`, { reviewer: 'rita' });

  await tickets.change(id(3), { requires: ['math'], body: 'changed' });
  const changed = await tickets.reprioritize(id(3), 9);
  const moved = await tickets.transfer(decided.next, { queue: `${queue}-other`, reason: 'moved' });
  const resolved = await tickets.resolve(id(2), { decision: 'no', reason: 'known' });
  const invalidated = await tickets.invalidate(unnamed.id, { reason: 'gone' });
  await tickets.invalidate(unnamed.id, { reason: 'gone' });
  const open = await tickets.invalidate(id(1), { reason: 'late' }).catch((error) => error);

  say({
    settings: settings.maxHeld,
    added: added.map((ticket) => [ticket.id, ticket.body]),
    same: added[0].version === added[1].version,
    unnamed: unnamed.body,
    mixed: mixed.map((result) => [result.id, result.httpStatus]),
    held: held.map((ticket) => [ticket.id, ticket.resumed, ticket.lease.reviewer]),
    renewed: renewed >= held[1].lease.expiresAt,
    decided: [decided.ticket.state, decided.ticket.decision, decided.next.id],
    again: again.next.lease.token === decided.next.lease.token,
    released: released.state,
    lost: [lost.name.replace(/Error$/, ''), lost.code, lost.reason, lost.holder, typeof lost.endedAt],
    closed: [closed.name.replace(/Error$/, ''), closed.code, closed.state, closed.by, closed.reason],
    none: [none.tickets.map((ticket) => ticket.id), none.reasons],
    empty: [empty.tickets, empty.reasons.held, empty.retryAfterSeconds > 0],
    changed: [changed.priority, changed.requires, changed.body],
    moved: [moved.queue, moved.state],
    resolved: [resolved.state, resolved.decision, resolved.reason],
    invalidated: [invalidated.state, (await tickets.get(unnamed.id)).invalidation.reason],
    open: [open.name.replace(/Error$/, ''), open.state],
    events: (await all(tickets.events(id(1)))).map((event) => event.type),
    ...(await many(`${queue}-bulk`, `${queue}-large`)),
    conflict: await refusal(tickets.add(queue, { ...one, body: 'other' })),
    missing: await refusal(tickets.get('nobody')),
    key: await named(clientOf({ apiKey: 'wrong' }).tickets.get(id(1))),
    down: await named(clientOf({ servers: 'http://127.0.0.1:1', retrySeconds: 0 }).tickets.get(id(1))),
  });
}

await run({ review, ticketCalls });
