import { type Attack, call, during, openSockets, rssMb } from './attack.ts';

const SOCKETS = 150;
/** Beyond the 60 s in which an answer must be read (api/transfers.ts), also for those that are opened last. */
const SECONDS = 90;
const ANSWERS = 3;
/** What the Kubernetes base gives an API process is 1,024 MB. */
const MOST_MB = 800;

/** Connections that ask for full pages with one key, and read no answer before its time is over. */
export const unread: Attack = async (target) => {
  const tickets = Array.from({ length: 500 }, (_, n) => ({ id: `unread-${n}`, body: 'x'.repeat(7_600) }));
  for (let n = 0; n < 500; n += 100)
    await call(target, 'POST', '/v1/queues/unread/tickets/batch', { tickets: tickets.slice(n, n + 100) });
  const before = rssMb(target.pid);
  const head = `GET /v1/tickets?queue=unread&limit=500 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.key}\r\n\r\n`;
  const attackers: Awaited<ReturnType<typeof openSockets>>[] = [];
  const figures = { sockets: 0, rssBefore: before, rssMost: 0, calls: 0, refused: 0, notCut: 0 };
  const { text } = await call(target, 'GET', '/v1/tickets?queue=unread&limit=500');
  await during(SECONDS, async () => {
    // a few at a time: a crowd would wait for PostgreSQL, not for its readers
    if (figures.sockets < SOCKETS) attackers.push(await openSockets(target.url, 5, head.repeat(ANSWERS)));
    figures.sockets = 5 * attackers.length;
    const { status } = await call(target, 'GET', '/v1/queues/unread');
    figures.calls++;
    if (status !== 200) figures.refused++;
    figures.rssMost = Math.max(figures.rssMost, rssMb(target.pid));
  });
  const read = (await Promise.all(attackers.map((some) => some.read()))).flat();
  figures.notCut = read.filter((bytes) => bytes > ANSWERS * text.length).length;
  const broken = [
    ...(figures.rssMost > MOST_MB ? [`rssMost > ${MOST_MB} MB`] : []),
    ...(figures.refused > 0 ? ['refused'] : []),
    ...(figures.notCut > 0 ? ['notCut'] : []),
  ];
  return { figures, broken };
};
