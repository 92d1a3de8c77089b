import { get, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';

/** An answer as it came: `fetch` would have decompressed it. */
export async function rawGet(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(url + path, { headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ headers: response.headers, body: Buffer.concat(chunks) });
    }).on('error', reject);
  });
}

/** The status that a call is answered with, sent as it is: `fetch` would not send some of them. */
export const rawStatus = (url: string, options: RequestOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path: '/v1/queues', ...options }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject).end();
  });
