import { useState } from 'preact/hooks';
import { api, data, get, type Schemas } from '../../api/client.ts';
import { mayAct } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Fields } from '../../components/form/fields.tsx';
import { among } from '../../components/form/filters.tsx';
import { useForm } from '../../components/form/form.tsx';
import { count, type FieldSpec, picked } from '../../components/form/spec.ts';
import { number } from '../../components/format.ts';
import { Button, Loading, ProblemNote } from '../../components/page.tsx';
import { toast } from '../../components/toasts.tsx';
import { itemPath, type ListKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { giveCommand, isFrom, type JobCommand, ownJobCommands } from '../item/job.tsx';
import { reasonField, type Why } from '../item/ticket-actions.tsx';
import { type Filter, isOpen, STATES } from './filters.ts';

/** What may be done to many items of a queue or topic at once. */
interface Act {
  kind: 'ticket' | 'job';
  name: 'invalidate' | Exclude<JobCommand['name'], 'finish'>;
  /** What it would hit; changes nothing. @throws CallError */
  preview: (queue: string, wanted: Hit) => Promise<Preview>;
  /** @throws CallError if it could be done to none */
  run: (queue: string, hit: Hit, reason: string) => Promise<{ done: number; skipped: number }>;
}

/** Those that the session's role has for items of a kind. */
export function actsOn(kind: ListKind): Act[] {
  if (kind === 'ticket')
    return mayAct('producer') ? [{ kind, name: 'invalidate', preview: previewTickets, run: invalidate }] : [];
  return kind === 'job' ? ownJobCommands().flatMap((one) => (one.name === 'finish' ? [] : [actOf(one, one.name)])) : [];
}

interface Props {
  act: Act;
  queue: string;
  filter: Filter;
  /** Items that are selected; none: those that fit. */
  ids: string[];
  onDone: () => void;
}

/** Does something to the open items of a queue that are selected or, of tickets, fit a filter, after it has shown what it will hit. */
export function Bulk(props: Props) {
  const { lists, items } = texts.value;
  const [open, setOpen] = useState(false);
  const { act, ids } = props;
  const { label } = items.actions[act.name];
  // it would hit more than the list shows
  const left = ids.length > 0 ? [] : notPassedOn(props.filter);
  if (ids.length === 0 && act.kind === 'job') return null;
  return (
    <>
      <Button
        does={ids.length > 0 ? lists.bulk.selected(label, number(ids.length)) : lists.bulk.label}
        run={() => setOpen(true)}
        look={LOOKS[act.name]}
      />
      {open && left.length > 0 && (
        <Dialog title={label} open onClose={() => setOpen(false)}>
          <p>{lists.bulk.notBy(left.join(', '))}</p>
        </Dialog>
      )}
      {open && left.length === 0 && <BulkDialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

/** By what the API can invalidate, and what is no filter. */
const PASSED_ON = ['createdBefore', 'queue', 'order', 'cursor'];

/** The filters of a list by which nothing can be done at once. */
function notPassedOn({ state = '', ...filter }: Filter): string[] {
  const { lists, items } = texts.value;
  const names = Object.keys(filter).filter((name) => filter[name] && !PASSED_ON.includes(name));
  return [...(state && !isOpen(state) ? [items.fields.state] : []), ...names.map((name) => lists[name as 'verdict'])];
}

const LOOKS: Partial<Record<Act['name'], 'danger'>> = { invalidate: 'danger', delete: 'danger' };

function filterFields(): FieldSpec[] {
  const { lists, items } = texts.value;
  return [
    among('state', items.fields.state, [['', lists.bulk.allOpen], ...picked(OPEN_STATES, items.states)]),
    { kind: 'moment', name: 'createdBefore', said: [lists.createdBefore, ''], empty: 'omit' },
    { ...count('priorityBelow', [lists.bulk.below, ''], null), empty: 'omit' },
  ];
}

function BulkDialog({
  act,
  queue,
  filter: { state = '', createdBefore },
  ids,
  ...props
}: Props & { close: () => void }) {
  const { lists, items, deliveries } = texts.value;
  const t = lists.bulk;
  const { kind, name } = act;
  const { label } = items.actions[name];
  const start = { createdBefore, state: isOpen(state) ? state : '' };
  const why = { invalidate: [{ ...reasonField(), empty: 'omit' } as FieldSpec], bury: [reasonField('omit')] };
  const fields = [...(ids.length > 0 ? [] : filterFields()), ...(name in why ? why[name as keyof typeof why] : [])];
  const { draft, setDraft, value, busy, problem, submit } = useForm(fields, start);
  const [found, setFound] = useState<(Preview & { of: string }) | null>(null);
  const { reason = '', ...filter } = value as BulkFilter & Why;
  const asked: Hit = ids.length > 0 ? { ids } : { filter };
  const of = JSON.stringify(asked);
  // a preview is of its filter only; the reason changes nothing
  const hits = found?.of === of ? found : null;
  const look = () => submit(async () => setFound({ of, ...(await act.preview(queue, asked)) }));
  const run = ({ hit }: Preview) =>
    submit(async () => {
      const { done, skipped } = await act.run(queue, hit, reason);
      toast(t.done(name, number(done), number(skipped), skipped > 0));
      props.onDone();
      props.close();
    });
  const actions = (
    <>
      <Button does={texts.value.common.cancel} run={props.close} />
      <Button does={texts.value.queueSettings.preview} run={look} look={hits ? '' : 'primary'} disabled={busy} />
      {hits && hits.total > 0 && (
        <Button
          does={t.go(label, number(hits.total))}
          run={() => run(hits)}
          look={LOOKS[name] ?? 'primary'}
          disabled={busy}
        />
      )}
    </>
  );
  return (
    <Dialog title={t.title(label, deliveries.kinds[kind], queue)} open onClose={props.close} actions={actions}>
      <p>{t.will[name]}</p>
      <Fields fields={fields} draft={draft} onChange={setDraft} errors={problem?.errors ?? []} />
      <output aria-live="polite">{busy ? <Loading /> : hits && <Hits kind={kind} hits={hits} />}</output>
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}

function Hits({ kind, hits: { hit, total, sample, others = 0 } }: { kind: Act['kind']; hits: Preview }) {
  const t = texts.value.lists.bulk;
  const left = others > 0 && t.others(number(others));
  if (total === 0) return <p>{left || t.hitsNothing}</p>;
  return (
    <div class="note warn">
      <p>
        <strong>{t.hits(kind, number(total))}</strong> {'filter' in hit && t.pinned} {left}
      </p>
      <p class="row">
        {sample.map((id) => (
          <a key={id} href={itemPath(kind, id)} target="_blank" rel="noreferrer">
            {id} <span class="visually-hidden">({texts.value.common.openInNewTab})</span>
          </a>
        ))}
        {sample.length < total && <span class="muted">…</span>}
      </p>
    </div>
  );
}

type BulkFilter = NonNullable<Schemas['InvalidateMany']['filter']>;
const OPEN_STATES = STATES.ticket.filter(isOpen) as NonNullable<BulkFilter['state']>[];

/** Which items: those that fit a filter, or these. */
type Hit = { filter: BulkFilter } | { ids: string[] };

interface Preview {
  /** A filter has an end in time: what is added after the preview is not hit. */
  hit: Hit;
  total: number;
  /** Ids of some that are hit. */
  sample: string[];
  /** Selected ones to which it cannot be done. */
  others?: number;
}

const SAMPLE = 8;
/** Newest tickets of each state among which the sample is taken. */
const LOOKED_AT = 100;

const invalidating = (queue: string, body: Schemas['InvalidateMany']) =>
  data(api.POST('/v1/queues/{queue}/invalidate', { params: { path: { queue } }, body }));

/** By the API's own dry run. */
async function previewTickets(queue: string, wanted: Hit): Promise<Preview> {
  const hit = 'ids' in wanted ? wanted : { filter: await pinned(queue, wanted.filter) };
  const [{ invalidated: total }, sample] = await Promise.all([
    invalidating(queue, { ...hit, reason: 'preview', dryRun: true }),
    'ids' in hit ? hit.ids.slice(0, SAMPLE) : sampleOf(queue, hit.filter),
  ]);
  return { hit, total, sample };
}

async function invalidate(queue: string, hit: Hit, reason: string) {
  const { invalidated, skipped } = await invalidating(queue, { ...hit, reason });
  return { done: invalidated, skipped };
}

const pinned = async (queue: string, filter: BulkFilter): Promise<BulkFilter> => ({
  ...filter,
  createdBefore: filter.createdBefore ?? (await justAfterNewest(queue)),
});

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

const idsOf = (hit: Hit): string[] => ('ids' in hit ? hit.ids : []);

/** A command for each of the jobs that are selected. */
function actOf(command: JobCommand, name: Act['name']): Act {
  const preview = async (_: string, wanted: Hit) => {
    const jobs = await Promise.all(idsOf(wanted).map((id) => get('/v1/jobs/{id}', { path: { id } })));
    const ids = jobs.filter(({ state }) => isFrom(command, state)).map(({ id }) => id);
    return { hit: { ids }, total: ids.length, sample: ids.slice(0, SAMPLE), others: jobs.length - ids.length };
  };
  const run = async (_: string, hit: Hit, reason: string) => {
    const give = (id: string) => giveCommand({ command: name, id, reason: reason || undefined });
    const given = await Promise.allSettled(idsOf(hit).map(give));
    const failed = given.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    if (failed.length === given.length) throw failed[0];
    return { done: given.length - failed.length, skipped: failed.length };
  };
  return { kind: 'job', name, preview, run };
}
