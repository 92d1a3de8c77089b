import { type Attack, call, during, openSockets } from './attack.ts';

const SOCKETS = 5_050;
const SECONDS = 8;

/** Connections without a key that begin to sign in and send one byte of the body. */
export const bodies: Attack = async (target) => {
  const head = 'POST /v1/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 200\r\n\r\n{';
  const attackers = await openSockets(target.url, SOCKETS, head);
  const figures = { calls: 0, probesRefused: 0, callsRefused: 0, signInsRefused: 0 };
  await during(SECONDS, async () => {
    const [live, listed, signedIn] = await Promise.all([
      call(target, 'GET', '/livez'),
      call(target, 'GET', '/v1/queues'),
      call(target, 'POST', '/v1/session', { key: target.key }),
    ]);
    figures.calls++;
    if (live.status !== 200) figures.probesRefused++;
    if (listed.status !== 200) figures.callsRefused++;
    if (signedIn.status !== 201) figures.signInsRefused++;
  });
  attackers.close();
  const { calls: _, ...refused } = figures;
  return { figures, broken: Object.entries(refused).flatMap(([name, n]) => (n > 0 ? [name] : [])) };
};
