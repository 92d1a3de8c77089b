import { api, data, get } from './client.ts';
import { problemOf } from './problem.ts';
import { session } from './session.ts';

/** Finds out who uses the console. @throws CallError when the server doesn't say */
export async function loadSession(): Promise<void> {
  try {
    const found = await get('/v1/session', {});
    // another object would be another session to all that depends on it
    if (JSON.stringify(found) !== JSON.stringify(session.peek())) session.value = found;
  } catch (error) {
    // `data` has noted that no one is signed in
    if (problemOf(error).code !== 'unauthenticated') throw error;
  }
}

/** Exchanges a key for a session. @throws CallError `unauthenticated` for a wrong key, `rate_limited` after many */
export async function signIn(key: string): Promise<void> {
  session.value = await data(api.POST('/v1/session', { body: { key } }));
}

/** Resolves when there may be another session, by a sign-in in another tab: when this one is seen again, or after 15 s. */
export const returned = (): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('focus', done);
      document.removeEventListener('visibilitychange', done);
      resolve();
    };
    const timer = setTimeout(done, AGAIN_MS);
    addEventListener('focus', done);
    document.addEventListener('visibilitychange', done);
  });

/** What has to be done with the session before it ends, such as sending what waits. */
export const beforeSignOut = new Set<() => Promise<void>>();
const TIMEOUT_MS = 3_000;
/** Beyond twenty a minute the server takes no more calls without a session. */
const AGAIN_MS = 15_000;

/** @throws CallError when the session may go on */
export async function signOut(): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS));
  await Promise.race([late, Promise.allSettled([...beforeSignOut].map((work) => work()))]);
  try {
    await data(api.DELETE('/v1/session'));
  } catch (error) {
    // it had ended already
    if (problemOf(error).code !== 'unauthenticated') throw error;
  }
  sessionStorage.clear();
  session.value = null;
}
