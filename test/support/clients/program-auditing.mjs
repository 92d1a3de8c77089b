// Keeps reviews with the TypeScript client as a test says: program-auditing.mjs reviewCalls|audit JSON
import { all, asked, client, refusal, run, say } from './program-common.mjs';

async function reviewCalls() {
  const { prefix } = asked;
  const { reviews } = client;
  const id = `${prefix}-review`;
  const pictures = [1, 2].map((n) => ({ id: `${prefix}-picture-${n}`, status: 0 }));
  const put = await reviews.put(id, { text: { status: 0 }, pictures, body: { a: [1, 'ä', null] } });
  const told = { waitSeconds: 10 };
  const text = await reviews.callback(id, { kind: 'text', status: 5, ...told });
  const late = { kind: 'text', status: 4, auditTime: '2020-01-01T00:00:00.000Z', ...told };
  const expired = await reviews.callback(id, late);
  const named = { kind: 'picture', targetId: pictures[0].id, status: 6, callbackId: 'mine', ...told };
  const [applied, duplicate] = [await reviews.callback(id, named), await reviews.callback(id, named)];
  const picture = await reviews.pictureCallback(pictures[1].id, { status: 7, ...told });
  for (let n = 0; n < 100; n++) await reviews.callback(id, { kind: 'text', status: n });
  const last = await reviews.callback(id, { kind: 'text', status: 100, ...told });
  const edited = await reviews.put(id, { text: { status: 1 }, pictures: pictures.slice(1) });
  const log = await all(reviews.log(id));
  say({
    put: [put.id, put.status, put.body],
    text: [text.outcome, text.callbackId.length > 0],
    expired: expired.outcome,
    applied: applied.outcome,
    duplicate: [duplicate.outcome, duplicate.first.outcome],
    picture: picture.outcome,
    last: last.outcome,
    edited: [edited.status, edited.pictures.map((one) => one.status)],
    got: (await reviews.get(id)).version === edited.version,
    log: [log.length, log.at(-1).kind, new Set(log.map((line) => line.seq)).size],
    missing: await refusal(reviews.callback('nobody', { kind: 'text', status: 1 })),
    invalid: await refusal(reviews.callback(id, { kind: 'picture', status: 1 })),
  });
}

async function audit() {
  const { review, count } = asked;
  const outcomes = [];
  for (let status = 1; status <= count; status++)
    outcomes.push((await client.reviews.callback(review, { kind: 'text', status, waitSeconds: 10 })).outcome);
  say({ outcomes });
}

await run({ reviewCalls, audit });
