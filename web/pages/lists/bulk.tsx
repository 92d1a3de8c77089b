import { useRef, useState } from 'preact/hooks';
import { useAttempt } from '../../api/attempt.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Loading, ProblemNote } from '../../components/feedback.tsx';
import { Field } from '../../components/field.tsx';
import { localText, momentOf } from '../../components/form/moments.ts';
import { number } from '../../components/format.ts';
import { toast } from '../../components/toasts.tsx';
import { itemPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import type { Filter } from './filters.ts';
import { type BulkFilter, invalidateAll, OPEN_STATES, type Preview, preview } from './invalidation.ts';

interface Typed {
  state: string;
  before: string;
  below: string;
  reason: string;
}

/** Invalidates the open tickets of a queue that fit a filter, after it has shown what it will hit. */
export function BulkInvalidate({ queue, filter }: { queue: string; filter: Filter }) {
  const t = texts.value.lists.bulk;
  const [open, setOpen] = useState(false);
  const isOpenState = OPEN_STATES.some((state) => state === filter.state);
  const start = {
    state: isOpenState ? (filter.state ?? '') : '',
    before: filter.before ? localText(filter.before) : '',
    below: '',
    reason: '',
  };
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {t.label}
      </button>
      {open && <BulkDialog queue={queue} start={start} close={() => setOpen(false)} />}
    </>
  );
}

function BulkDialog({ queue, start, close }: { queue: string; start: Typed; close: () => void }) {
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
      const asked = filterOf(typed);
      const found = await preview(queue, asked);
      // the filter may be another one by now
      if (JSON.stringify(filterOf(latest.current)) === JSON.stringify(asked)) setHits(found);
    });
  const invalidate = () =>
    attempt(async () => {
      if (!hits) return;
      const { invalidated, skipped } = await invalidateAll(queue, hits.filter, typed.reason.trim());
      toast(t.done(number(invalidated), number(skipped), skipped > 0));
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
        <button type="button" class="danger" disabled={busy} onClick={() => void invalidate()}>
          {t.invalidate(number(hits.total))}
        </button>
      )}
    </>
  );
  return (
    <Dialog title={t.title(queue)} open onClose={close} actions={actions}>
      <p>{t.will}</p>
      <Fields typed={typed} change={change} />
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

function Fields({ typed, change }: { typed: Typed; change: (changed: Partial<Typed>) => void }) {
  const { bulk: t, before } = texts.value.lists;
  const set = (name: keyof Typed) => (event: { currentTarget: { value: string } }) =>
    change({ [name]: event.currentTarget.value });
  return (
    <>
      <div class="bulk-fields">
        <Field label={texts.value.lists.state}>
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
