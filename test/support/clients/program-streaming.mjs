// Reads events with the TypeScript client as a test says: program-streaming.mjs stream|feed JSON
import { asked, client, run, say, servers } from './program-common.mjs';

/** As a page gets tickets from its own backend, which has the key. */
async function ticketOf(key) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${[servers].flat()[0]}/v1/stream-tickets`, { method: 'POST', headers });
  return (await response.json()).ticket;
}

async function stream() {
  const { reviewer, queue, juror, lastEventId, ticketKey } = asked;
  const ticket = ticketKey && (() => ticketOf(ticketKey));
  const events = client.stream({ reviewer, queue, juror }, { lastEventId, ticket });
  process.once('SIGTERM', () => events.close());
  for await (const event of events) say({ event });
}

async function feed() {
  const { after, follow } = asked;
  const events = client.feed({ after, follow });
  process.once('SIGTERM', () => events.close());
  for await (const event of events) say({ seq: event.seq, event });
}

await run({ stream, feed });
