import { Client, ReviewerLoop, Skip } from '@docket/client';

// A bot that works on the same queue as people do: it decides what is obvious and leaves the rest to them.

const QUEUE = 'chat-reports';
const run = new Date().toISOString().replace(/\W/g, '');
const SAMPLES = [
  'Win a free phone now http://win.example',
  'See you at nine, bring the cards',
  'Cheap watches, cheap watches http://watch.example',
  'You played like a potato today',
  'http://win.example http://win.example http://win.example',
  'Does anyone still have a spare ticket?',
];

interface Report {
  text: string;
}

/** Whether a message is to be removed; undefined where a person has to look. */
function judge({ text }: Report): boolean | undefined {
  const links = text.match(/https?:\S+/g)?.length ?? 0;
  if (links > 0) return true;
  return /\b(potato|idiot)\b/i.test(text) ? undefined : false;
}

const client = new Client({
  servers: process.env.DOCKET_SERVERS?.split(',') ?? ['http://127.0.0.1:3000'],
  apiKey: process.env.DOCKET_API_KEY,
});
await client.tickets.putQueue(QUEUE, { leaseSeconds: 60, maxHeld: 4 });
const added = await client.tickets.addMany(
  QUEUE,
  SAMPLES.map((text, n) => ({ id: `${run}-${n}`, body: { text } })),
);
console.log(`${added.length} reports added to ${QUEUE}`);

const open = new Set(added.map(({ id }) => id));
const loop = new ReviewerLoop(client, {
  queue: QUEUE,
  reviewer: 'bot',
  concurrency: 4,
  waitSeconds: 2,
  handler(ticket) {
    const report = ticket.body as Report;
    const remove = judge(report);
    console.log(`${remove === undefined ? 'a person' : remove ? 'remove  ' : 'keep    '}  ${report.text}`);
    if (open.delete(ticket.id) && open.size === 0 && process.argv.includes('--once')) loop.stop();
    // skipped: never offered to the bot again, and to everyone else
    if (remove === undefined) throw new Skip('not obvious');
    return { remove };
  },
});
process.once('SIGINT', () => loop.stop());
process.once('SIGTERM', () => loop.stop());
await loop.run();
console.log(`the rest waits at /desk/${QUEUE} of the console`);
