import { useEffect, useRef } from 'preact/hooks';
import { type Asked, get } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useResource } from '../../api/resource.ts';
import { beginOf, type Wanted } from './wanted.ts';

/** Figures of a queue over a time, asked again when a known sign becomes another one. */
export function useFigures<P extends '/v1/figures/lateness' | '/v1/figures/people'>(
  path: P,
  { kind, queue, range }: Wanted,
  sign: string | null,
) {
  const figures = useResource((signal) => {
    const query = { kind, ...beginOf(range, serverNow()), queue: queue || undefined };
    return get(path, { query } as Asked<P>, signal);
  }, []);
  const seen = useRef<string | null>(null);
  useEffect(() => {
    if (sign === null) return;
    if (seen.current !== null && seen.current !== sign) figures.refresh();
    seen.current = sign;
  }, [sign]);
  return figures;
}
