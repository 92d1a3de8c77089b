import { call, fail, readData, run } from './call.ts';

// 496 web sites as tickets, and 30 of the people who rated them deciding side by side as they did then.

interface Rating {
  item: string;
  reviewer: string;
  answer: string;
}

interface Ticket {
  id: string;
  body: { site: string };
  lease: { token: string };
}

const REVIEWERS = 30;
const queue = `demo-${run}`;

const ratings: Rating[] = readData('moderation-ratings.csv').map(([item = '', reviewer = '', answer = '']) => ({
  ...{ item, reviewer, answer },
}));
const sites = [...new Set(ratings.map((r) => r.item))];
const reviewers = busiest(ratings, REVIEWERS);
const said = new Map(ratings.map((r) => [`${r.item} ${r.reviewer}`, r.answer]));
const majority = majorities(ratings);

export async function tickets(): Promise<void> {
  console.log(
    `${sites.length} sites from ${ratings.length} real ratings, ${reviewers.length} reviewers, queue ${queue}\n`,
  );
  await call('PUT', `/v1/queues/${queue}`, { leaseSeconds: 60, ageing: { secondsPerLevel: 60 } });
  await addSites();
  const started = Date.now();
  const holders = new Map<string, string>();
  const progress = setInterval(() => void show(started), 500);
  const counts = await Promise.all(reviewers.map((reviewer) => work(reviewer, holders)));
  clearInterval(progress);
  await show(started);
  console.log('\n');
  await report(counts);
}

async function addSites(): Promise<void> {
  const tickets = sites.map((site, n) => ({ id: `${run}-${site}`, priority: n % 10 === 0 ? 5 : 0, body: { site } }));
  const { results } = await call('POST', `/v1/queues/${queue}/tickets/batch`, { tickets });
  const added = results.filter((r: { httpStatus: number }) => r.httpStatus === 201).length;
  console.log(`${added} tickets added, every tenth of them urgent`);
}

/** One reviewer: claims, looks, decides as they did then, and gets the next with the same call. */
async function work(reviewer: string, holders: Map<string, string>): Promise<number> {
  let decided = 0;
  let { tickets } = await call('POST', `/v1/queues/${queue}/claim`, { reviewer });
  while (tickets.length > 0) {
    const ticket: Ticket = tickets[0];
    const other = holders.get(ticket.id);
    if (other !== undefined) fail(`${ticket.id} is held by ${other} and ${reviewer} at once`);
    holders.set(ticket.id, reviewer);
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 180));
    holders.delete(ticket.id);
    const { token } = ticket.lease;
    const { next } = await call('POST', `/v1/tickets/${ticket.id}/decide`, {
      token,
      decision: opinion(ticket.body.site, reviewer),
      next: true,
    });
    decided++;
    tickets = next ? [next] : [];
  }
  return decided;
}

/** What the reviewer answered then; who never saw the site goes with the first who did. */
function opinion(site: string, reviewer: string) {
  const own = said.get(`${site} ${reviewer}`);
  return { rating: own ?? ratings.find((r) => r.item === site)?.answer, own: own !== undefined };
}

async function show(started: number): Promise<void> {
  const { waiting, held, decided } = await call('GET', `/v1/queues/${queue}/stats`);
  const width = Math.round((decided / sites.length) * 40);
  const bar = '█'.repeat(width).padEnd(40, '·');
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const line = `${bar} ${String(decided).padStart(3)}/${sites.length} decided, ${held} held, ${waiting} waiting, ${seconds} s`;
  process.stdout.write(process.stdout.isTTY ? `\r${line}   ` : `${line}\n`);
}

async function report(counts: number[]): Promise<void> {
  let agree = 0;
  let own = 0;
  let wrong = 0;
  for (let cursor = ''; ; ) {
    const page = await call('GET', `/v1/tickets?queue=${queue}&limit=500${cursor && `&cursor=${cursor}`}`);
    for (const ticket of page.items) {
      const { items } = await call('GET', `/v1/tickets/${ticket.id}/events?limit=500`);
      const decisions = items.filter((e: { type: string }) => e.type === 'decided').length;
      if (decisions !== 1 || ticket.state !== 'decided') wrong++;
      if (ticket.decision.own) own++;
      if (ticket.decision.rating === majority.get(ticket.body.site)) agree++;
    }
    if (!page.nextCursor) break;
    cursor = page.nextCursor;
  }
  const total = counts.reduce((a, b) => a + b, 0);
  console.log(
    `every ticket decided exactly once   ${wrong === 0 && total === sites.length ? 'yes' : `NO: ${wrong} wrong, ${total} decisions`}`,
  );
  console.log('tickets held by two at once         0');
  console.log(`decisions per reviewer              ${Math.min(...counts)} to ${Math.max(...counts)}`);
  console.log(`decided by someone who rated it     ${own} of ${sites.length}`);
  console.log(
    `same as the majority of all ratings ${agree} of ${sites.length} (${Math.round((agree / sites.length) * 100)} %)`,
  );
  const { body } = { body: await call('GET', `/v1/tickets/${run}-${sites[0]}/workflow`) };
  if (body.uiUrl) console.log(`\none of the workflows: ${body.uiUrl}`);
  if (wrong > 0 || total !== sites.length) process.exit(1);
}

function busiest(all: Rating[], n: number): string[] {
  const counts = new Map<string, number>();
  for (const { reviewer } of all) counts.set(reviewer, (counts.get(reviewer) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, n)
    .map(([reviewer]) => reviewer);
}

function majorities(all: Rating[]): Map<string, string> {
  const votes = new Map<string, Map<string, number>>();
  for (const { item, answer } of all) {
    const tally = votes.get(item) ?? new Map<string, number>();
    votes.set(item, tally.set(answer, (tally.get(answer) ?? 0) + 1));
  }
  return new Map([...votes].map(([item, tally]) => [item, [...tally].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '']));
}
