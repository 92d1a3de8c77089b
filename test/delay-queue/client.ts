import type { Json } from '../support/client.ts';

interface Answered {
  status: number;
  body: Json;
}

/** Posts what the Go delay-queue's clients post. */
export function delayQueueClient(port: number) {
  const url = `http://127.0.0.1:${port}`;
  const post = async (path: string, sent: unknown, init: RequestInit = {}): Promise<Answered> => {
    const body = typeof sent === 'string' || sent instanceof Buffer ? sent : JSON.stringify(sent);
    const response = await fetch(url + path, { method: 'POST', body, ...init });
    return { status: response.status, body: await response.json() };
  };
  const job = { topic: 'order', delay: 1, ttr: 60, body: '{"uid": 10829378}' };
  return {
    post,
    push: async (sent: Json) => (await post('/push', { ...job, ...sent })).body,
    pop: async (topic: string, init: RequestInit = {}) => (await post('/pop', { topic }, init)).body,
    finish: async (id: string) => (await post('/finish', { id })).body,
    remove: async (id: string) => (await post('/delete', { id })).body,
    get: async (id: string) => (await post('/get', { id })).body,
  };
}

export const DONE = { code: 0, message: '操作成功', data: null };
export const ADDED = { code: 0, message: '添加成功', data: null };
export const failed = (message: string) => ({ code: 1, message, data: null });
