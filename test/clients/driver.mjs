// Does with the TypeScript client what a test asks for, a line of JSON each on standard input: driver.ts says how.
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import * as docket from '@docket/client';

const { Consumer, Puller, ReviewerLoop, JurorLoop } = docket;
const LOOPS = { Consumer, Puller, ReviewerLoop, JurorLoop };

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const shortName = (error) => error.name.replace(/Error$/, '');
const onSignal = (stop) => process.once('SIGTERM', stop);

/** Calls whose arguments have other places in TypeScript. */
const OWN = {
  add: async (client, topic, id, body) => !(await client.add({ topic, id, body })).already,
  addTemplate: (client, id, params) => client.addTemplate({ id, name: id, params }),
  addTask: (client, id, task) => client.addTask({ ...task, id }),
  receive,
  next: (client, uid, { wait: waitSeconds, ...named } = {}) => client.next(uid, { waitSeconds, ...named }),
};

/** All that an iterator gives; Node 20 has no Array.fromAsync. */
async function all(iterator) {
  const items = [];
  for await (const item of iterator) items.push(item);
  return items;
}

const answers = [];

async function call({ call: path, args, named, client: options }) {
  const values = args.map((arg) => (arg?.$answer ? arg.$answer.reduce((value, name) => value[name], answers) : arg));
  if (named) values.push(named);
  const client = new docket.Client(options);
  const names = path.split('.');
  const name = names.pop();
  const of = names.reduce((value, each) => value[each], client);
  try {
    const value = await (OWN[path]?.(client, ...values) ?? of[name](...values));
    answers.push(value?.[Symbol.asyncIterator] ? await all(value) : value);
    say({ answer: answers.at(-1) ?? null });
  } catch (error) {
    answers.push(null);
    say({ failed: { ...error, error: shortName(error) } });
  }
}

/** How often the handler of something has been begun, this time too, by whatever process. */
function begun(key) {
  const file = `${Buffer.from(key).toString('hex')}.begun`;
  appendFileSync(file, '.');
  return statSync(file).size;
}

/** Does what the item's body says. */
const handlerOf = (loop, person) => async (item, context) => {
  const { taskId, id = taskId, logId, redo, attempt = item.attempts } = item;
  const plan = item.body ?? item.value ?? item.params ?? {};
  const { seconds = 0, failures = 0, fail, delay, text = 'as asked' } = plan;
  say({ began: id, attempt, at: Date.now() / 1000, invited: context?.invited, logId, redo });
  const answer =
    loop === 'JurorLoop' ? { option: plan.option ?? 'buyer', comment: plan.comment } : { of: id, empty: {} };
  if (plan.untilLost) {
    while (!context.signal.aborted) await sleep(50);
    say({ lost: id });
    return answer;
  }
  const isFailing = (attempt ?? begun(`${person} ${id}`)) <= failures;
  if (isFailing || !fail) await sleep(seconds * 1000);
  if (isFailing && fail === 'skip') throw new docket.Skip('as asked');
  if (isFailing && fail === 'decline') throw new docket.Decline('as asked');
  if (isFailing && fail === 'bury') throw new docket.Bury(text);
  if (isFailing && fail === 'release') throw new docket.Release(delay);
  if (isFailing && fail === 'error') throw new Error('as asked');
  if (isFailing && fail === 'unsayable') return 1n;
  if (isFailing && fail === 'large') return 'x'.repeat(300_000);
  say({ ended: id });
  return answer;
};

async function loop({ run, client, options: { wait, waitSeconds = wait, backoffSeconds, ...options } }) {
  const made = new LOOPS[run](new docket.Client(client), {
    ...{ ...options, waitSeconds, handler: handlerOf(run, options.uid ?? options.juror) },
    backoff: backoffSeconds === undefined ? undefined : () => backoffSeconds,
    onError: (error, item) => say({ error: error.name, text: error.message, item: item?.id ?? item?.taskId }),
  });
  onSignal(() => made.stop());
  say({ ready: true });
  await made.run();
}

async function read(events) {
  onSignal(() => events.close());
  for await (const event of events) say({ event });
}

/** As a page gets tickets from its own backend, which has the key. */
async function ticketOf({ servers: [server] }, key) {
  const headers = { authorization: `Bearer ${key}` };
  return (await (await fetch(`${server}/v1/stream-tickets`, { method: 'POST', headers })).json()).ticket;
}

function stream({ client, options: { ticketKey, lastEventId, ...of } }) {
  const ticket = ticketKey && (() => ticketOf(client, ticketKey));
  return read(new docket.Client(client).stream(of, { lastEventId, ticket }));
}

/** Versions that outlive the program. */
function versionsIn(file) {
  const kept = () => JSON.parse(readFileSync(file, 'utf8'));
  return {
    last: async (key) => (statSync(file, { throwIfNoEntry: false }) ? (kept()[key] ?? null) : null),
    keep: async (key, version) => writeFileSync(file, JSON.stringify({ [key]: version })),
  };
}

/** Receives a callback, so many times at once. */
function receive(_, { headers, body, secret, times = 1, failures = 0, store }) {
  const handle = async ({ item, message, ...said }) => {
    say({ began: said.key });
    if (times > 1) await sleep(500);
    if (begun(said.key) <= failures) throw new Error('as asked');
    say({ handled: { ...said, whole: message.type === said.type && message[said.kind] === item } });
  };
  const versions = store && versionsIn(store);
  const once = () => docket.receive({ headers, body, secret, versions, handle });
  return Promise.all(Array.from({ length: times }, once));
}

const RUNS = { stream, feed: ({ client, options }) => read(new docket.Client(client).feed(options)) };

try {
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    await (asked.call ? call(asked) : (RUNS[asked.run] ?? loop)(asked));
  }
} catch (error) {
  say({ fatal: shortName(error), text: error.message });
  process.exitCode = 3;
}
