import { signal } from '@preact/signals';
import type { components } from '../../clients/typescript/src/openapi.ts';
import type { PageRoute, Role } from '../routes.ts';
import { isUnsaved, unsent } from '../unsaved.ts';

export type Session = components['schemas']['Session'];

/** Who uses the console. undefined: not known yet; null: signed out. */
export const session = signal<Session | null | undefined>(undefined);

/** The API asks for a key. As long as something is unsaved its page stays: who signs in in another tab can save it then. */
export const signedOut = () => {
  if (!isUnsaved() && unsent.size === 0) session.value = null;
};

/** Whether the session sees a page. */
export function maySee(who: Session, { roles, unbound }: PageRoute): boolean {
  if (unbound && who.queues !== null) return false;
  return roles === 'everybody' || isAmong(who.role, roles);
}

/** Whether the session's role may do what the API allows these roles; administrators may do everything. */
export function mayAct(...roles: Role[]): boolean {
  const role = session.value?.role;
  return role !== undefined && isAmong(role, roles);
}

/** A supervisor may do all that a producer may in the console. */
const isAmong = (role: Role, roles: readonly Role[]): boolean =>
  role === 'admin' || roles.includes(role) || (role === 'supervisor' && roles.includes('producer'));
