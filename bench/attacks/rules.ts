import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, call } from './attack.ts';

const TICKETS = 20;
const NEIGHBOURS = 5;
/** An add waits for rules five seconds at most; a busy machine takes as long again. */
const MOST_SECONDS = 12;

/** Doubles its work at each step, for tickets that have `dear` in their body. */
function dear(): object {
  const step = (n: number) => ({ allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, n < 39 ? step(n + 1) : {}]));
  return { $defs, properties: { body: { properties: { dear: step(0) } } } };
}

/** One queue's rules never end, while another queue with a rule of its own is worked on. */
export const rules: Attack = async (target) => {
  const put = async (queue: string, when: object) =>
    (await call(target, 'PUT', `/v1/queues/${queue}`, { rules: [{ when, requires: ['senior'] }] })).status;
  await put('neighbour', { properties: { body: { const: 'x' } } });
  await put('dear', dear());
  const uniqueItems = await put('unique', { properties: { body: { uniqueItems: true } } });
  const tickets = Array.from({ length: TICKETS }, (_, n) => ({ id: `dear-${n}`, body: { dear: n } }));
  const adding = call(target, 'POST', '/v1/queues/dear/tickets/batch', { tickets });
  await sleep(500);
  const add = (n: number) => call(target, 'POST', '/v1/queues/neighbour/tickets', { id: `n-${n}`, body: 'x' });
  const added = await Promise.all(Array.from({ length: NEIGHBOURS }, (_, n) => add(n)));
  const neighbourSeconds = Math.max(...added.map(({ ms }) => ms)) / 1_000;
  const adderSeconds = (await adding).ms / 1_000;
  let failedOpen = 0;
  for (const { id } of tickets) {
    const { text } = await call(target, 'POST', '/v1/queues/dear/explain', { reviewer: 'r', ticket: id });
    if (JSON.parse(text).offered) failedOpen++;
  }
  const figures = { uniqueItems, neighbourSeconds, adderSeconds, failedOpen };
  const broken = [
    ...(uniqueItems === 422 ? [] : ['uniqueItems']),
    ...(neighbourSeconds > MOST_SECONDS ? ['neighbourSeconds'] : []),
    ...(adderSeconds > MOST_SECONDS ? ['adderSeconds'] : []),
    ...(failedOpen > 0 ? ['failedOpen'] : []),
  ];
  return { figures, broken };
};
