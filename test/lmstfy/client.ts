import type { Json } from '../support/client.ts';

export interface Answer {
  status: number;
  body: Json;
  headers: Headers;
}

interface Sent {
  query?: Record<string, string | number>;
  body?: string | Buffer;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A client of one namespace that sends what lmstfy's own clients send, and answers what came back. */
export function lmstfyClient(port: number, namespace = 'ns', token = 'any token') {
  const ask = async (
    method: string,
    path: string,
    { query = {}, body, headers = {}, signal }: Sent = {},
  ): Promise<Answer> => {
    const params = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const response = await fetch(`http://127.0.0.1:${port}/api/${namespace}/${path}?${params}`, {
      method,
      headers: { ...(token && { 'x-token': token }), ...headers },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    ask,
    /** @returns the job's id */
    async publish(queue: string, data: string | Buffer = 'hello', query: Sent['query'] = {}): Promise<string> {
      const { status, body } = await ask('PUT', queue, { query, body: data });
      if (status !== 201 || body.msg !== 'published') throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.job_id;
    },
    consume: (queues: string, query: Sent['query'] = {}, signal?: AbortSignal) =>
      ask('GET', queues, { query, ...(signal && { signal }) }),
    /** The data of the job that is handed out, as text; undefined: there is none. */
    async take(queues: string, query: Sent['query'] = {}): Promise<string | undefined> {
      const { status, body } = await ask('GET', queues, { query });
      return status === 200 ? dataOf(body) : undefined;
    },
    ack: async (queue: string, id: string) => (await ask('DELETE', `${queue}/job/${id}`)).status,
    size: async (queue: string) => (await ask('GET', `${queue}/size`)).body.size,
    /** How many are dead, and the id of the first. */
    async dead(queue: string): Promise<[number, string]> {
      const { body } = await ask('GET', `${queue}/deadletter`);
      return [body.deadletter_size, body.deadletter_head];
    },
  };
}

export const dataOf = (job: Json): string => Buffer.from(job.data, 'base64').toString();
