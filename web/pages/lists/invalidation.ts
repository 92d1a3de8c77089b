import { api, data, get, type Schemas } from '../../api/client.ts';

export type BulkFilter = NonNullable<Schemas['InvalidateMany']['filter']>;
export const OPEN_STATES = ['delayed', 'waiting', 'held'] as const;

/** Which tickets: those that fit a filter, or these. */
export type Hit = { filter: BulkFilter } | { ids: string[] };

export interface Preview {
  /** A filter has an end in time: what is added after the preview is not hit. */
  hit: Hit;
  total: number;
  /** Ids of some that are hit. */
  sample: string[];
}

const SAMPLE = 8;
/** Newest tickets of each state among which the sample is taken. */
const LOOKED_AT = 100;

/** What a bulk invalidation would hit, by the API's own dry run. @throws CallError */
export async function preview(queue: string, wanted: Hit): Promise<Preview> {
  const hit = 'ids' in wanted ? wanted : { filter: await pinned(queue, wanted.filter) };
  const body = { ...hit, reason: 'preview', dryRun: true };
  const [{ invalidated: total }, sample] = await Promise.all([
    data(api.POST('/v1/queues/{queue}/invalidate', { params: { path: { queue } }, body })),
    'ids' in hit ? hit.ids.slice(0, SAMPLE) : sampleOf(queue, hit.filter),
  ]);
  return { hit, total, sample };
}

const pinned = async (queue: string, filter: BulkFilter): Promise<BulkFilter> => ({
  ...filter,
  createdBefore: filter.createdBefore ?? (await justAfterNewest(queue)),
});

/** @throws CallError */
export const invalidateAll = (queue: string, hit: Hit, reason: string) =>
  data(api.POST('/v1/queues/{queue}/invalidate', { params: { path: { queue } }, body: { ...hit, reason } }));

/** By the newest ticket and not by the browser's clock, which may be wrong. */
async function justAfterNewest(queue: string): Promise<string> {
  const { items } = await get('/v1/tickets', { query: { queue, limit: 1 } });
  const newest = Date.parse(items[0]?.createdAt ?? '1970-01-01T00:00:00Z');
  // times are shown in milliseconds, and kept more precisely
  return new Date(newest + 1).toISOString();
}

/** The list has no filter by priority, so some of the newest are looked at. */
async function sampleOf(queue: string, { state, createdBefore, priorityBelow }: BulkFilter): Promise<string[]> {
  const states = state ? [state] : OPEN_STATES;
  const pages = await Promise.all(
    states.map((one) => {
      const query = { queue, state: one, limit: LOOKED_AT, ...(createdBefore && { createdBefore }) };
      return get('/v1/tickets', { query });
    }),
  );
  const fits = (priority: number) => priorityBelow === undefined || priority < priorityBelow;
  const hit = pages.flatMap(({ items }) => items).filter(({ priority }) => fits(priority));
  return hit.slice(0, SAMPLE).map(({ id }) => id);
}
