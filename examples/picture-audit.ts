import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, ReviewerLoop, receive } from '@docket/client';

// A review site has the pictures of a new review looked at. Each picture becomes a ticket; its decision goes into the
// review by itself, and the site hears of each change by a signed callback. For the callback Docket has to run with
// DOCKET_ALLOW_PRIVATE_CALLBACKS=1, because the site is on this machine.

const QUEUE = 'picture-audit';
const SHOWN = 5;
const HIDDEN = 9;
const run = new Date().toISOString().replace(/\W/g, '');
const secret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`;
const client = new Client({
  servers: process.env.DOCKET_SERVERS?.split(',') ?? ['http://127.0.0.1:3000'],
  apiKey: process.env.DOCKET_API_KEY,
});

const pictures = ['street', 'menu', 'passport'].map((name) => ({ id: `${run}-${name}`, status: 1 }));
let isAudited = () => {};
const audited = new Promise<void>((resolve) => {
  isAudited = resolve;
});
const site = createServer(async (request, response) => {
  try {
    await receive({
      headers: request.headers,
      body: Buffer.concat(await request.toArray()),
      secret,
      async handle({ version, item }) {
        const shown = (item as { pictures: { id: string; status: number }[] }).pictures;
        console.log(`version ${version}: ${shown.map((p) => `${p.id.slice(run.length + 1)} ${p.status}`).join(', ')}`);
        if (shown.every((p) => p.status !== 1)) isAudited();
      },
    });
    response.end();
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;

await client.reviews.put(run, { text: { status: SHOWN }, pictures, replies: [], callback: { url, secret } });
await client.tickets.putQueue(QUEUE, { leaseSeconds: 60 });
for (const { id } of pictures) {
  const callback = { review: run, kind: 'picture' as const, targetId: id };
  await client.tickets.add(QUEUE, { id, body: { picture: id }, callback });
}
const auditor = new ReviewerLoop(client, {
  queue: QUEUE,
  reviewer: 'auditor',
  waitSeconds: 2,
  handler: ({ id }) => ({ status: id.endsWith('passport') ? HIDDEN : SHOWN }),
});
const auditing = auditor.run();
await audited;
auditor.stop();
await auditing;
site.close();
