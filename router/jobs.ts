import { type Adding, addMany, addTo } from './adding.ts';
import { bodyOf, type Call, forward, inTurn, read } from './forward.ts';
import { type Locator, manyItems } from './items.ts';
import type { Places } from './places.ts';

type Sent = Record<string, unknown>;

/** One of the job commands, for the Docket of its topic or its job. */
export async function jobCommand(places: Places, locator: Locator, call: Call): Promise<Response> {
  const sent = bodyOf(call);
  if (!sent) return forward(places.any, call);
  const { command, id, jobs, topic } = sent;
  if (command === 'add') return add(places, call, sent);
  if (command === 'pop') return pop(places, call, sent);
  if (Array.isArray(jobs)) return manyItems(places, call, jobs, (some) => ({ ...sent, jobs: some }));
  if (typeof id === 'string') return oneJob(places, locator, call, id);
  if (typeof topic === 'string') return ofTopic(places, call, topic);
  return forward(places.any, call);
}

const JOBS: Adding = {
  noun: 'jobs',
  idOf: (entry) => (typeof entry.id === 'string' ? entry.id : undefined),
  scopeOf: (entry) => (typeof entry.topic === 'string' ? `topic/${entry.topic}` : undefined),
  lineOf: (entry, { code, message }) => ({
    ...{ success: false, error: message, code },
    id: typeof (entry as Sent | null)?.id === 'string' ? (entry as Sent).id : null,
  }),
};

function add(places: Places, call: Call, sent: Sent): Promise<Response> {
  const { jobs } = sent;
  if (!Array.isArray(jobs)) return addTo(places, call, JOBS, sent);
  return addMany(places, call, JOBS, jobs, (some) => ({ ...sent, jobs: some }));
}

const isEmpty = ({ success, id, jobs }: Sent) =>
  success === true && id === null && !(Array.isArray(jobs) && jobs.length > 0);

/** From where topics are being moved first: what is there is older. */
function pop(places: Places, call: Call, sent: Sent): Promise<Response> {
  const topics = [sent.topic].flat();
  const known = topics.filter((topic) => typeof topic === 'string');
  const at = known.map((topic) => ({ topic, ...places.of(`topic/${topic}`) }));
  const dockets = [...at.flatMap(({ from }) => from ?? []), ...at.map(({ to }) => to)];
  const distinct = [...new Map(dockets.map((docket) => [docket.name, docket])).values()];
  const [only = places.any, ...others] = distinct;
  // a wait or a topic that is none is for a Docket to refuse
  const { wait = 0 } = sent;
  const isWrong = known.length < topics.length || typeof wait !== 'number' || wait < 0 || wait > 60;
  if (others.length === 0 || isWrong) return forward(only, call);
  const sources = distinct.map((docket) => {
    const here = at.filter(({ to, from }) => to.name === docket.name || from?.name === docket.name);
    const ask = (turn: number) =>
      forward(docket, call, { body: { ...sent, topic: here.map(({ topic }) => topic), wait: turn } });
    return { ask, grows: here.some(({ to }) => to.name === docket.name) };
  });
  return inTurn(sources, wait, isEmpty);
}

/** A job that one Docket does not have is asked for at the next. */
async function oneJob(places: Places, locator: Locator, call: Call, id: string): Promise<Response> {
  let last: Response | undefined;
  for (const docket of locator.order(places, 'jobs', id)) {
    const { answer, value } = await read(await forward(docket, call));
    last = answer;
    if (value?.code === 'not_found') continue;
    if (value) locator.learn('jobs', id, docket);
    return answer;
  }
  return last as Response;
}

/** `kick` and `peek` of a topic: where it is being moved from first. */
async function ofTopic(places: Places, call: Call, topic: string): Promise<Response> {
  const { to, from } = places.of(`topic/${topic}`);
  if (from) {
    const { answer, value } = await read(await forward(from, call));
    // it gave something, or refused
    if (!value || (value.value !== null && value.value !== 0)) return answer;
  }
  return forward(to, call);
}
