import { isWorkflow } from '../../contract/common.ts';
import type { Callback } from '../../contract/items.ts';
import { refuseCallback } from '../../domain/callbacks.ts';
import { type Context, invalid, Problem } from './service.ts';

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

/** @throws Problem 422 for a zone in which the database cannot compute */
export async function checkZone({ db }: Context, name: string): Promise<void> {
  const [zone] = await db.run('is_zone', { name });
  if (!zone?.known) throw invalid('timezone', 'is not a time zone that the database knows');
}

/** Why a call gets no second look. */
const REFUSALS = {
  not_found: 'there is no such item',
  erased: 'it has been erased',
  not_final: 'it is not decided',
  window_closed: 'the decision is too old to appeal against it',
  already_open: 'a second look is open already',
  forbidden: 'nobody looks at their own decision',
} as const;

/** @throws Problem where a call has got no look */
export function checkAnswer(answer: string): void {
  if (answer in REFUSALS) throw new Problem(answer as keyof typeof REFUSALS, REFUSALS[answer as keyof typeof REFUSALS]);
}
