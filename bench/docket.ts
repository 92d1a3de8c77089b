import { freePort } from '../cli/servers/ports.ts';
import { type Caller, need, openCallers } from './client.ts';
import { forgetUnpublished, type Lab } from './lab.ts';
import { tubeCallers } from './rivals/beanstalkd.ts';
import type { JobCaller, NewJob, Queues, Taken } from './rivals/rival.ts';

const TTR = 60;

/** Docket's two processes, and their two doors for jobs. */
export interface OpenDocket {
  url: string;
  http: Queues;
  tcp: Queues;
  stop(): Promise<void>;
}

/**
 * Starts Docket for its turn. At the end of it the processes stop, and what they had not told any
 * workflow yet is forgotten: else publishing it would use the cores while a rival has its turn.
 */
export async function openDocket(lab: Lab): Promise<OpenDocket> {
  const port = await freePort();
  const docket = await lab.docket({ BEANSTALKD_PORT: String(port) });
  const stop = async () => {
    await docket.stop();
    await forgetUnpublished(lab);
  };
  const common = { durable: true, lighter: '', databaseUrl: lab.databaseUrl, stop };
  return {
    url: docket.url,
    http: {
      ...{ name: 'Docket', ...common },
      callers: async (n) => (await openCallers(docket.url, n)).map(httpCaller),
    },
    tcp: { ...{ name: 'Docket over TCP', wholeSeconds: true, ...common }, callers: (n) => tubeCallers(() => port, n) },
    stop,
  };
}

function httpCaller(caller: Caller): JobCaller {
  const ask = async (command: object) => {
    const answer = need(await caller.post('/v1/jobs', command), 200);
    if (!answer.success) throw new Error(JSON.stringify(answer));
    return answer;
  };
  return {
    async add(topic, jobs) {
      const [first] = jobs;
      if (jobs.length === 1 && first) await ask({ command: 'add', ...sent(topic, first) });
      else await ask({ command: 'add', jobs: jobs.map((job) => sent(topic, job)) });
    },
    async take(topic, most, wait = 0) {
      if (most > 1) return (await ask({ command: 'pop', topic, wait, count: most })).jobs.map(taken);
      const job = await ask({ command: 'pop', topic, wait });
      return job.id === null ? [] : [taken(job)];
    },
    async finish(_, jobs) {
      const [first] = jobs;
      if (jobs.length === 1 && first) await ask({ command: 'finish', ...(first.ref as object) });
      else await ask({ command: 'finish', jobs: jobs.map(({ ref }) => ref) });
    },
    close: () => caller.close(),
  };
}

const sent = (topic: string, { id, delaySeconds, body }: NewJob) => ({ topic, id, delay: delaySeconds, TTR, body });

const taken = ({ id, token, value }: { id: string; token: string; value: NewJob['body'] }): Taken => ({
  order: value.order,
  ref: { id, token },
});
