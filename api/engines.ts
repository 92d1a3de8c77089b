import type { Api } from './api.ts';

/** How long an engine may take to answer. */
export const ENGINE_MS = 2_000;

/** Whether the server answers within two seconds. */
export async function checkTemporal({ runtime: { client } }: Api): Promise<'ok' | 'unreachable'> {
  const ask = client.withDeadline(Date.now() + ENGINE_MS, () => client.workflowService.getSystemInfo({}));
  return ask.then(
    () => 'ok' as const,
    () => 'unreachable' as const,
  );
}

/** Without a worker everything goes on but what workflows do. */
export async function isFollowed({ services }: Api): Promise<boolean> {
  const ask = services.figures.isFollowed().catch(() => false);
  return Promise.race([ask, after(ENGINE_MS, false)]);
}

/** What counts if nothing has come by then. */
export const after = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(value), ms).unref();
  });
