import { isFree } from '../../runtime/ports.ts';

const [FIRST, LAST] = [20_000, 32_000];

/**
 * A free port that stays free while its server is down: below those from which systems take the local ends
 * of connections, so that no other test's connection sits on it when the server comes back.
 */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}
