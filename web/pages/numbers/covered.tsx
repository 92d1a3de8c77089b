import { useEffect, useRef } from 'preact/hooks';
import { type Asked, get } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useResource } from '../../api/resource.ts';
import { moment, number } from '../../components/format.ts';
import { texts } from '../../texts/texts.ts';
import { beginOf, type Wanted } from './wanted.ts';

interface Props {
  from: string;
  partial: boolean;
  coveredFrom: string;
  /** How many persons are shown, where there may be more. */
  first?: number;
}

/** Above figures that have not counted everything: what they leave out. */
export function Covered({ from, partial, coveredFrom, first }: Props) {
  const t = texts.value.numbers;
  if (!partial) return null;
  const isSince = coveredFrom > from;
  return (
    <p class="note warn" role="note">
      {isSince || first === undefined ? t.since(moment(coveredFrom)) : t.most(number(first))}
    </p>
  );
}

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
