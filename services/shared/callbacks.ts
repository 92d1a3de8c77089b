import { isWorkflow } from '../../contract/callbacks.ts';
import type { Callback } from '../../contract/items.ts';
import { refuseCallback } from '../../domain/callbacks.ts';
import type { Context } from './context.ts';
import { invalid } from './problems.ts';

type Asked = Pick<Context, 'config' | 'client'>;

/** Why nothing may be sent to a URL, by the operator's settings of now; null: it may. */
export const refusedCallback = ({ config, client }: Asked, url: string): string | null =>
  refuseCallback(url, { ...config, ownNamespace: client.options.namespace });

/**
 * Checks a callback before its host is resolved.
 * @param path of the callback in the body
 * @throws Problem `invalid_request` when it may not be called
 */
export function checkCallback(ctx: Asked, path: string, callback: Callback | null | undefined): void {
  const refused = callback ? refusedCallback(ctx, callback.url) : null;
  if (callback && refused !== null) throw invalid(`${path}.${isWorkflow(callback.url) ? 'temporal' : 'url'}`, refused);
}
