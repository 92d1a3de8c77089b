import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../../test/support/client.ts';
import type { Workload } from '../workload.ts';

const COURT = 'disputes';
const JURORS = Array.from({ length: 12 }, (_, n) => `juror-${n}`);
const LEASE_SECONDS = 4;
/** Each casts so many votes at most, so every case can be decided by those who have not voted. */
export const VOTES_TO_WIN = 3;

/** Cases: jurors claim, vote, give back, are too late (S2). */
export async function cases(w: Workload): Promise<void> {
  const court = { votesToWin: VOTES_TO_WIN, leaseSeconds: LEASE_SECONDS, overbook: 1, callback: w.callback };
  await w.insist('operator', 'court.put', {}, `PUT /v1/courts/${COURT}`, court);
  const list = { jurors: JURORS.map((id) => ({ id })), list: 'storm', first: true, final: true };
  await w.insist('operator', 'jurors.put', {}, `PUT /v1/courts/${COURT}/jurors`, list);
  w.produce(1.2, async () => {
    const id = w.name('c');
    const body = { id, parties: [{ id: `buyer-${id}` }, { id: `seller-${id}` }], body: { id } };
    await w.insist('producer', 'case.add', { id }, `POST /v1/courts/${COURT}/cases`, body);
  });
  w.produce(0.05, () => invalidate(w));
  for (const juror of JURORS) w.repeat(() => judge(w, juror));
}

async function invalidate(w: Workload): Promise<void> {
  const id = w.recent('case.add', 20);
  if (id === undefined) return;
  const body = { reason: 'settled out of court' };
  await w.insist('operator', 'case.invalidate', { id }, `POST /v1/cases/${id}/invalidate`, body);
}

async function judge(w: Workload, juror: string): Promise<boolean> {
  const claim = await w.call(juror, 'case.claim', {}, `POST /v1/courts/${COURT}/claim`, { juror });
  if (claim.outcome !== 'ok' || !claim.answer.case) {
    await sleep(500);
    return false;
  }
  const { id } = claim.answer.case;
  const { token } = claim.answer.lease;
  const send = (verb: string, more: Json = {}) =>
    w.insist(juror, `case.${verb}`, { id, token, ...more }, `POST /v1/cases/${id}/${verb}`, { token, ...more });
  const vote = () => send('votes', { option: w.pick(['buyer', 'seller']) });
  const path = w.draining ? 0 : w.roll();
  await sleep(w.roll() * 600);
  if (path < 0.8) await vote();
  else if (path < 0.88) await send('release');
  else if (path < 0.95) {
    await sleep(LEASE_SECONDS * 1000 * (0.8 + w.roll()));
    await vote();
  } else await sleep(LEASE_SECONDS * 1000);
  return true;
}
