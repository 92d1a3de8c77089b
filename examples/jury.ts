import { Client, JurorLoop } from '@docket/client';

// A court of seven jurors judges three disputes between a buyer and a seller; the first side to three votes wins.

const COURT = 'marketplace-disputes';
const run = new Date().toISOString().replace(/\W/g, '');
const DISPUTES = [
  { claim: 'The shoe came torn', proof: 3 },
  { claim: 'It is not the colour of the picture', proof: 1 },
  { claim: 'The parcel was empty', proof: 2 },
];
const JURORS = ['ada', 'bela', 'chen', 'dara', 'emre', 'fola', 'gita'];

const client = new Client({
  servers: process.env.DOCKET_SERVERS?.split(',') ?? ['http://127.0.0.1:3000'],
  apiKey: process.env.DOCKET_API_KEY,
});
await client.cases.putCourt(COURT, { options: ['buyer', 'seller'], votesToWin: 3, leaseSeconds: 120 });
await client.cases.putJurors(COURT, JURORS);
const ids = DISPUTES.map((_, n) => `${run}-${n}`);
for (const [n, body] of DISPUTES.entries())
  await client.cases.add(COURT, { id: ids[n], parties: [{ id: `buyer-${n}` }, { id: `seller-${n}` }], body });

const loops = JURORS.map(
  (juror) =>
    new JurorLoop(client, {
      court: COURT,
      juror,
      handler({ body }) {
        const { claim, proof } = body as (typeof DISPUTES)[number];
        const option = Math.random() * 3 < proof ? 'buyer' : 'seller';
        console.log(`${juror.padEnd(5)} ${option.padEnd(7)} ${claim}`);
        return { option, comment: `${proof} of 3 proofs` };
      },
    }),
);
const running = Promise.all(loops.map((loop) => loop.run()));
const stop = () => {
  for (const loop of loops) loop.stop();
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

for (const [n, id] of ids.entries()) {
  let found = await client.cases.get(id ?? '');
  while (found.state === 'open') {
    await new Promise((resolve) => setTimeout(resolve, 300));
    found = await client.cases.get(id ?? '');
  }
  const tally = Object.entries(found.tally).map(([option, votes]) => `${votes} ${option}`);
  console.log(`${DISPUTES[n]?.claim}: ${found.winner ?? found.state} (${tally.join(', ')})`);
}
stop();
await running;
