import type { Schemas } from '../../api/client.ts';

type Delivery = Schemas['ListedDelivery'];

/** What the page can show: what is not delivered in two lists, or one state. */
export const SHOWN = ['undelivered', 'failed', 'pending', 'delivered'] as const;
/** What has deliveries of its own; jobs are pushed. */
export const KINDS = ['ticket', 'case', 'task', 'review'] as const satisfies Delivery['kind'][];

export interface Wanted {
  state: (typeof SHOWN)[number];
  kind?: Delivery['kind'];
  queue?: string;
  host?: string;
}

/** As it stands in the address. */
export function filterIn({ state, kind, queue, host }: Record<string, string>): Wanted {
  const known = KINDS.find((one) => one === kind);
  return {
    state: SHOWN.find((one) => one === state) ?? 'undelivered',
    ...(known && { kind: known }),
    ...(queue && { queue }),
    ...(host && { host }),
  };
}

export function pathWith(fields: Record<string, string>): string {
  const set = Object.entries(fields).filter(
    ([name, value]) => value !== '' && !(name === 'state' && value === SHOWN[0]),
  );
  return set.length === 0 ? '/deliveries' : `/deliveries?${new URLSearchParams(set)}`;
}
