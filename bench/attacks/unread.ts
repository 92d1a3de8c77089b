import { type Attack, call, during, openSockets, rssMb } from './attack.ts';

const SOCKETS = 150;
const SECONDS = 45;
/** What the Kubernetes base gives an API process is 1,024 MB. */
const MOST_MB = 800;

/** Connections that ask for full pages with one key, three of them each, and never read the answers. */
export const unread: Attack = async (target) => {
  const tickets = Array.from({ length: 500 }, (_, n) => ({ id: `unread-${n}`, body: 'x'.repeat(7_600) }));
  for (let n = 0; n < 500; n += 100)
    await call(target, 'POST', '/v1/queues/unread/tickets/batch', { tickets: tickets.slice(n, n + 100) });
  const before = rssMb(target.pid);
  const head = `GET /v1/tickets?queue=unread&limit=500 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.key}\r\n\r\n`;
  const attackers: Awaited<ReturnType<typeof openSockets>>[] = [];
  const figures = { sockets: 0, rssBefore: before, rssMost: 0, calls: 0, refused: 0 };
  await during(SECONDS, async () => {
    // a few at a time: a crowd would wait for PostgreSQL, not for its readers
    if (figures.sockets < SOCKETS) attackers.push(await openSockets(target.url, 5, head.repeat(3)));
    figures.sockets = 5 * attackers.length;
    const { status } = await call(target, 'GET', '/v1/queues/unread');
    figures.calls++;
    if (status !== 200) figures.refused++;
    figures.rssMost = Math.max(figures.rssMost, rssMb(target.pid));
  });
  for (const some of attackers) some.close();
  const broken = [
    ...(figures.rssMost > MOST_MB ? [`rssMost > ${MOST_MB} MB`] : []),
    ...(figures.refused > 0 ? ['refused'] : []),
  ];
  return { figures, broken };
};
