import { useState } from 'preact/hooks';
import { api, data, get, type Schemas } from '../../api/client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Fields } from '../../components/form/fields.tsx';
import { among } from '../../components/form/filters.tsx';
import { useForm } from '../../components/form/form.tsx';
import { count, type FieldSpec } from '../../components/form/spec.ts';
import { number } from '../../components/format.ts';
import { Loading, ProblemNote } from '../../components/page.tsx';
import { toast } from '../../components/toasts.tsx';
import { itemPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { reasonField, type Why } from '../item/ticket-actions.tsx';
import type { Filter } from './filters.ts';

interface Props {
  queue: string;
  filter: Filter;
  /** Tickets that are selected; none: those that fit. */
  ids: string[];
  onDone: () => void;
}

/** Invalidates the open tickets of a queue that are selected or fit a filter, after it has shown what it will hit. */
export function BulkInvalidate(props: Props) {
  const t = texts.value.lists.bulk;
  const [open, setOpen] = useState(false);
  const { length } = props.ids;
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {length > 0 ? t.selected(number(length)) : t.label}
      </button>
      {open && <BulkDialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

function filterFields(): FieldSpec[] {
  const { lists, items, common } = texts.value;
  const states = OPEN_STATES.map((state) => [state, items.states[state] ?? state] as const);
  return [
    among('state', common.state, [['', lists.bulk.allOpen], ...states]),
    { kind: 'moment', name: 'createdBefore', said: [lists.createdBefore, ''], empty: 'omit' },
    { ...count('priorityBelow', [lists.bulk.below, ''], null), empty: 'omit' },
  ];
}

function BulkDialog({ queue, filter: { state, createdBefore }, ids, onDone, close }: Props & { close: () => void }) {
  const t = texts.value.lists.bulk;
  const reasonLast = { ...reasonField(), empty: 'omit' } as FieldSpec;
  const start = { createdBefore, state: OPEN_STATES.some((open) => open === state) ? state : '' };
  const fields = [...(ids.length > 0 ? [] : filterFields()), reasonLast];
  const { draft, setDraft, value, busy, problem, submit } = useForm(fields, start);
  const [found, setFound] = useState<(Preview & { of: string }) | null>(null);
  const { reason = '', ...filter } = value as BulkFilter & Why;
  const asked: Hit = ids.length > 0 ? { ids } : { filter };
  const of = JSON.stringify(asked);
  // a preview is of its filter only; the reason changes nothing
  const hits = found?.of === of ? found : null;
  const look = () => submit(async () => setFound({ of, ...(await preview(queue, asked)) }));
  const invalidate = ({ hit }: Preview) =>
    submit(async () => {
      const { invalidated, skipped } = await invalidateAll(queue, hit, reason);
      toast(t.done(number(invalidated), number(skipped), skipped > 0));
      onDone();
      close();
    });
  const actions = (
    <>
      <button type="button" onClick={close}>
        {texts.value.common.cancel}
      </button>
      <button type="button" class={hits ? '' : 'primary'} disabled={busy} onClick={() => void look()}>
        {t.preview}
      </button>
      {hits && hits.total > 0 && (
        <button type="button" class="danger" disabled={busy} onClick={() => void invalidate(hits)}>
          {t.invalidate(number(hits.total))}
        </button>
      )}
    </>
  );
  return (
    <Dialog title={t.title(queue)} open onClose={close} actions={actions}>
      <p>{t.will}</p>
      <Fields fields={fields} draft={draft} onChange={setDraft} errors={problem?.errors ?? []} />
      <output aria-live="polite">{busy ? <Loading /> : hits && <Hits hits={hits} />}</output>
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}

function Hits({ hits: { total, sample } }: { hits: Preview }) {
  const t = texts.value.lists.bulk;
  if (total === 0) return <p>{t.hitsNothing}</p>;
  return (
    <div class="note warn">
      <p>
        <strong>{t.hits(number(total))}</strong> {t.pinned}
      </p>
      <p class="row">
        {sample.map((id) => (
          <a key={id} href={itemPath('ticket', id)} target="_blank" rel="noreferrer">
            {id} <span class="visually-hidden">({texts.value.common.openInNewTab})</span>
          </a>
        ))}
        {sample.length < total && <span class="muted">…</span>}
      </p>
    </div>
  );
}

type BulkFilter = NonNullable<Schemas['InvalidateMany']['filter']>;
export const OPEN_STATES = ['delayed', 'waiting', 'held'] as const;

/** Which tickets: those that fit a filter, or these. */
type Hit = { filter: BulkFilter } | { ids: string[] };

interface Preview {
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
async function preview(queue: string, wanted: Hit): Promise<Preview> {
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
const invalidateAll = (queue: string, hit: Hit, reason: string) =>
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
    states.map((state) => get('/v1/tickets', { query: { queue, state, limit: LOOKED_AT, createdBefore } })),
  );
  const fits = (priority: number) => priorityBelow === undefined || priority < priorityBelow;
  const hit = pages.flatMap(({ items }) => items).filter(({ priority }) => fits(priority));
  return hit.slice(0, SAMPLE).map(({ id }) => id);
}
