import { Client, ReviewerLoop } from '@docket/client';

const client = new Client({ servers: process.env.DOCKET_SERVERS });
await client.tickets.add('stopwatch', { id: 'by-typescript', body: { text: 'buy now' } });
const loop = new ReviewerLoop(client, {
  queue: 'stopwatch',
  reviewer: 'anna',
  handler() {
    loop.stop();
    return { remove: true };
  },
});
await loop.run();
console.log(await client.tickets.get('by-typescript'));
