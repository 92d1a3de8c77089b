import { useState } from 'preact/hooks';
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
import { type BulkFilter, type Hit, invalidateAll, OPEN_STATES, type Preview, preview } from './invalidation.ts';

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
