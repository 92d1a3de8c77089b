// Judges cases with the TypeScript client as a test says: program-judging.mjs judge|caseCalls JSON
import { setTimeout as sleep } from 'node:timers/promises';
import { Decline, JurorLoop, Skip } from '@docket/client';
import { all, asked, client, refusal, run, say } from './program-common.mjs';

/** How often the handler has failed, by case. */
const failures = new Map();

async function handler({ id, body }, { signal, invited }) {
  say({ began: id, invited, at: Date.now() / 1000 });
  if (body?.untilLost) {
    while (!signal.aborted) await sleep(50);
    say({ lost: id });
    return 'buyer';
  }
  await sleep((body?.seconds ?? 0) * 1000);
  const failed = failures.get(id) ?? 0;
  if (failed < (body?.failures ?? 0)) {
    failures.set(id, failed + 1);
    if (body.fail === 'skip') throw new Skip('as asked');
    if (body.fail === 'decline') throw new Decline('as asked');
    throw new Error('as asked');
  }
  say({ ended: id });
  const option = body?.option ?? asked.option ?? 'buyer';
  return body?.comment === undefined ? option : { option, comment: body.comment };
}

async function judge() {
  const { court, juror, pauseSeconds = 0.3, backoffSeconds } = asked;
  const onError = (error, held) => say({ error: error.name, text: error.message, case: held?.id });
  const backoff = backoffSeconds === undefined ? undefined : () => backoffSeconds;
  const loop = new JurorLoop(client, { court, juror, pauseSeconds, handler, backoff, onError });
  process.once('SIGTERM', () => loop.stop());
  say({ ready: true });
  await loop.run();
}

async function caseCalls() {
  const { court } = asked;
  const { cases } = client;
  const id = (n) => `${court}-${n}`;
  const settings = await cases.putCourt(court, { votesToWin: 2, overbook: 1, leaseSeconds: 60 });
  const upserted = await cases.putJurors(court, ['ada', { id: 'bob', person: 'robert' }]);
  const names = Array.from({ length: 20_500 }, (_, n) => `j${n}`);
  const replaced = await cases.putJurors(court, [...names, 'ada', 'bob', 'party'], { list: 'today' });

  const one = { id: id(1), parties: [{ id: 'party' }], body: { a: [1, 'ä', null] } };
  const added = [await cases.add(court, one), await cases.add(court, one)];
  const unnamed = await cases.add(court, { body: 'no id' });
  await cases.invalidate(unnamed.id, { reason: 'gone' });
  const invalidated = await cases.invalidate(unnamed.id, { reason: 'gone' });

  const party = await cases.claim(court, 'party');
  const { case: held } = await cases.claim(court, 'ada');
  const { case: resumed } = await cases.claim(court, 'ada');
  const renewed = await cases.renew(held);
  const released = await cases.release(held);
  const lost = await cases.renew(held).catch((error) => error);
  const { case: anew } = await cases.claim(court, 'ada');
  const first = await cases.vote(anew, 'buyer', { comment: 'clear' });
  const repeated = await cases.vote(anew, 'buyer', { comment: 'clear' });
  const twice = await cases.claim(court, 'ada');
  const { case: last } = await cases.claim(court, 'bob');
  const { case: late } = await cases.claim(court, 'j1');
  const declined = await refusal(cases.decline(last));
  const decided = await cases.vote(last, 'buyer');
  const closed = await cases.vote(late, 'seller').catch((error) => error);

  const many = await cases.addMany(court, [{ id: id(2), body: null }, { id: 'not a name', body: null }, { body: 3 }]);
  const { case: skipped } = await cases.claim(court, 'j2');
  await cases.release(skipped, { skip: true });

  say({
    settings: settings.votesToWin,
    totals: [upserted, replaced],
    added: added.map((item) => [item.id, item.body]),
    same: added[0].version === added[1].version,
    invalidated: [invalidated.state, invalidated.endReason],
    party: [party.case, party.reasons.party],
    held: [held.id, held.resumed, resumed.resumed, resumed.lease.token === held.lease.token],
    renewed: renewed >= held.lease.expiresAt,
    released: released.state,
    lost: [lost.name.replace(/Error$/, ''), lost.code, lost.reason],
    first: [first.counted, first.case.state, first.case.tally],
    repeated: repeated.counted,
    twice: [twice.case, twice.reasons.voted],
    decided: [decided.counted, decided.case.state, decided.case.winner],
    late: [closed.name.replace(/Error$/, ''), closed.code, closed.state],
    declined,
    many: many.map((result) => [typeof result.id, result.httpStatus]),
    skipped: (await cases.claim(court, 'j2')).case?.id !== skipped.id,
    got: (await cases.get(id(1))).winner,
    invitations: await all(cases.invitations('ada')),
    missing: await refusal(cases.get('nobody')),
    option: await refusal(cases.vote(skipped, 'nobody')),
    noCourt: await refusal(cases.add(`${court}-none`, { body: null })),
  });
}

await run({ judge, caseCalls });
