import { useRef, useState } from 'preact/hooks';
import { useAttempt } from '../../api/attempt.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { localText, momentOf } from '../../components/form/moments.ts';
import { number } from '../../components/format.ts';
import { Loading, ProblemNote } from '../../components/page.tsx';
import { toast } from '../../components/toasts.tsx';
import { itemPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import type { Filter } from './filters.ts';
import { type BulkFilter, type Hit, invalidateAll, OPEN_STATES, type Preview, preview } from './invalidation.ts';

interface Typed {
  state: string;
  before: string;
  below: string;
  reason: string;
}

interface Props {
  queue: string;
  filter: Filter;
  /** Tickets that are selected; none: those that fit. */
  ids: string[];
  onDone: () => void;
}

/** Invalidates the open tickets of a queue that are selected or fit a filter, after it has shown what it will hit. */
export function BulkInvalidate({ queue, filter, ids, onDone }: Props) {
  const t = texts.value.lists.bulk;
  const [open, setOpen] = useState(false);
  const isOpenState = OPEN_STATES.some((state) => state === filter.state);
  const start = {
    state: isOpenState ? (filter.state ?? '') : '',
    before: filter.createdBefore ? localText(filter.createdBefore) : '',
    below: '',
    reason: '',
  };
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {ids.length > 0 ? t.selected(number(ids.length)) : t.label}
      </button>
      {open && <BulkDialog queue={queue} start={start} ids={ids} onDone={onDone} close={() => setOpen(false)} />}
    </>
  );
}

type DialogProps = Omit<Props, 'filter'> & { start: Typed; close: () => void };

function BulkDialog({ queue, start, ids, onDone, close }: DialogProps) {
  const t = texts.value.lists.bulk;
  const [typed, setTyped] = useState(start);
  const [hits, setHits] = useState<Preview | null>(null);
  const { busy, problem, attempt } = useAttempt();
  const latest = useRef(typed);
  latest.current = typed;
  const change = (changed: Partial<Typed>) => {
    setTyped({ ...typed, ...changed });
    // a preview is of its filter only; the reason changes nothing
    if (!('reason' in changed)) setHits(null);
  };
  const look = () =>
    attempt(async () => {
      const asked = hitOf(typed);
      const found = await preview(queue, asked);
      // the filter may be another one by now
      if (JSON.stringify(hitOf(latest.current)) === JSON.stringify(asked)) setHits(found);
    });
  const invalidate = () =>
    attempt(async () => {
      if (!hits) return;
      const { invalidated, skipped } = await invalidateAll(queue, hits.hit, typed.reason.trim());
      toast(t.done(number(invalidated), number(skipped), skipped > 0));
      onDone();
      close();
    });
  const hitOf = (from: Typed): Hit => (ids.length > 0 ? { ids } : { filter: filterOf(from) });
  const actions = (
    <>
      <button type="button" onClick={close}>
        {texts.value.common.cancel}
      </button>
      <button type="button" class={hits ? '' : 'primary'} disabled={busy} onClick={() => void look()}>
        {t.preview}
      </button>
      {hits && hits.total > 0 && (
        <button type="button" class="danger" disabled={busy} onClick={() => void invalidate()}>
          {t.invalidate(number(hits.total))}
        </button>
      )}
    </>
  );
  return (
    <Dialog title={t.title(queue)} open onClose={close} actions={actions}>
      <p>{t.will}</p>
      <Fields typed={typed} change={change} isFilter={ids.length === 0} />
      <output aria-live="polite">{busy ? <Loading /> : hits && <Hits hits={hits} />}</output>
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}

function filterOf({ state, before, below }: Typed): BulkFilter {
  const createdBefore = momentOf(before);
  return {
    ...(state && { state: state as NonNullable<BulkFilter['state']> }),
    ...(createdBefore && { createdBefore }),
    ...(below.trim() !== '' && { priorityBelow: Number(below) }),
  };
}

interface FieldsProps {
  typed: Typed;
  change: (changed: Partial<Typed>) => void;
  isFilter: boolean;
}

function Fields({ typed, change, isFilter }: FieldsProps) {
  const { bulk: t, createdBefore: before } = texts.value.lists;
  const set = (name: keyof Typed) => (event: { currentTarget: { value: string } }) =>
    change({ [name]: event.currentTarget.value });
  return (
    <>
      <div class="bulk-fields" hidden={!isFilter}>
        <Field label={texts.value.common.state}>
          {(field) => (
            <select {...field} value={typed.state} onChange={set('state')}>
              <option value="">{t.allOpen}</option>
              {OPEN_STATES.map((state) => (
                <option key={state} value={state}>
                  {texts.value.items.states[state]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={before}>
          {(field) => <input {...field} type="datetime-local" step={1} value={typed.before} onInput={set('before')} />}
        </Field>
        <Field label={t.below}>
          {(field) => <input {...field} type="text" value={typed.below} onInput={set('below')} />}
        </Field>
      </div>
      <Field label={texts.value.items.actions.reason} hint={texts.value.items.actions.reasonHint}>
        {(field) => (
          <input {...field} type="text" maxLength={200} required value={typed.reason} onInput={set('reason')} />
        )}
      </Field>
    </>
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
      <p class="bulk-sample">
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
