import { signal } from '@preact/signals';
import type { PageRoute, Role } from '../routes.ts';
import { CallError, problemIn, unreachable } from './problem.ts';

/** Who uses the console. */
export interface Session {
  /** The server asks for no key; everybody is an administrator. */
  open: boolean;
  role: Role;
  /** Whom a reviewer's key speaks for. */
  subject: string | null;
  /** Where this session may act and read; null: everywhere. */
  queues: string[] | null;
  name: string;
}

/** undefined: not known yet; null: signed out. */
export const session = signal<Session | null | undefined>(undefined);

export const signedOut = () => {
  session.value = null;
};

/** Whether the session's role sees a page. */
export function maySee(who: Session, { roles }: PageRoute): boolean {
  return roles === 'everybody' || who.role === 'admin' || roles.includes(who.role);
}

/** Finds out who uses the console. @throws CallError when the server doesn't answer that */
export async function loadSession(): Promise<void> {
  session.value = await call('GET');
}

/** Exchanges a key for a session. @throws CallError `unauthenticated` for an unknown key */
export async function signIn(key: string): Promise<void> {
  const made = await call('POST', { key });
  if (made === null) throw new CallError({ ...WRONG_KEY });
  session.value = made;
}

export async function signOut(): Promise<void> {
  await call('DELETE');
  await loadSession();
}

const WRONG_KEY = { code: 'unauthenticated', status: 401, title: '', detail: '', requestId: null, errors: [] };

async function call(method: string, body?: object): Promise<Session | null> {
  const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch('/v1/session', { method, ...init }).catch((cause: unknown) => {
    throw new CallError(unreachable(cause));
  });
  if (response.status === 401 || response.status === 204) return null;
  if (response.status === 404) return { open: true, role: 'admin', subject: null, queues: null, name: 'anonymous' };
  const answered: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new CallError(problemIn(answered, response));
  return answered as Session;
}
