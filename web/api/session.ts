import { signal } from '@preact/signals';
import type { components } from '../../clients/typescript/src/openapi.ts';
import type { PageRoute, Role } from '../routes.ts';

export type Session = components['schemas']['Session'];

/** Who uses the console. undefined: not known yet; null: signed out. */
export const session = signal<Session | null | undefined>(undefined);

export const signedOut = () => {
  session.value = null;
};

/** Whether the session's role sees a page. */
export function maySee(who: Session, { roles }: PageRoute): boolean {
  return roles === 'everybody' || who.role === 'admin' || roles.includes(who.role);
}

/** Whether the session's role may do what the API allows these roles; administrators may do everything. */
export function mayAct(...roles: Role[]): boolean {
  const role = session.value?.role;
  return role === 'admin' || (role !== undefined && roles.includes(role));
}
