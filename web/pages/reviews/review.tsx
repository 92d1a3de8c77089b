import { useRoute } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import type { LiveEvent } from '../../api/live.ts';
import { useGet, useList } from '../../api/resource.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Body } from '../../components/body/body.tsx';
import { moment, number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { Facts, Loaded, Page, Section } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { texts } from '../../texts/texts.ts';
import { Deliveries } from '../item/deliveries.tsx';
import { isAbout } from '../item/sources.ts';
import { Workflow } from '../item/workflow.tsx';
import { Stores } from './stores.tsx';
import '../item/item.css';
import './reviews.css';

/** One review: its targets as each store has them, and what became of every callback. */
export function Review() {
  const { id = '' } = useRoute().params;
  return <OneReview key={id} id={id} />;
}

function OneReview({ id }: { id: string }) {
  const t = texts.value.reviews;
  const on = isAbout('review', id);
  const review = useGet('/v1/reviews/{id}', { path: { id } }, { on });
  useShortcuts([{ key: 'r', does: texts.value.common.refresh, run: review.refresh }]);
  return (
    <Page title={t.title(id)}>
      <Loaded of={review}>
        {({ status, version, createdAt, updatedAt, body }) => (
          <>
            <Section title={texts.value.items.fields.state}>
              <Facts
                facts={[
                  [t.status, number(status)],
                  [texts.value.items.version, version],
                  [t.columns.updated, <When key="updated" at={updatedAt} />],
                  [texts.value.items.fields.createdAt, <When key="created" at={createdAt} />],
                ]}
              />
              {body !== null && (
                <div class="panel-body">
                  <Body value={body} />
                </div>
              )}
            </Section>
            <Stores id={id} on={on} />
            <Log id={id} on={on} />
            <Deliveries kind="review" id={id} />
            <Workflow kind="review" id={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

type Line = Schemas['ReviewLogLine'];
type LoggedRecord = Line['before'];

/** What became of every callback and edit, oldest first; a callback that a newer one had overtaken is marked. */
function Log({ id, on }: { id: string; on: (event: LiveEvent) => boolean }) {
  const t = texts.value.reviews;
  const log = useList('/v1/reviews/{id}/log', { path: { id } }, on);
  return <Listing title={t.log} list={log} columns={columns()} rowKey={({ seq }) => String(seq)} empty={t.noLog} />;
}

const TONES: Record<Line['outcome'], Tone> = { applied: 'good', expired: 'warn', duplicate: 'neutral', edited: 'info' };

function columns(): Column<Line>[] {
  const { columns: c, ...t } = texts.value.reviews;
  return [
    {
      title: c.target,
      cell: ({ kind, targetId }) => (
        <>
          {t.targets[kind]} {targetId !== null && <bdi>{targetId}</bdi>}
        </>
      ),
    },
    {
      title: c.outcome,
      cell: ({ outcome, reason }) => (
        <>
          <Badge tone={TONES[outcome]}>{t.outcomes[outcome]}</Badge>{' '}
          {reason !== null && <span class="muted reviews-time">{t.reasons[reason]}</span>}
        </>
      ),
    },
    { title: c.status, cell: (line) => <Change line={line} /> },
    { title: c.auditTime, cell: ({ auditTime }) => (auditTime === null ? '–' : moment(auditTime)) },
    { title: c.received, cell: ({ receivedAt }) => moment(receivedAt) },
    { title: c.callback, cell: ({ callbackId }) => <code>{callbackId ?? '–'}</code> },
  ];
}

/** The target's status before and after; the whole list of targets on demand. */
function Change({ line: { kind, targetId, status, outcome, before, after } }: { line: Line }) {
  const t = texts.value.reviews;
  const [was, is] = [statusIn(before, kind, targetId), statusIn(after, kind, targetId)];
  return (
    <>
      {outcome === 'applied' && was !== undefined && is !== undefined && (
        <span>
          {number(was)} → <strong>{number(is)}</strong>
        </span>
      )}
      {outcome !== 'applied' && status !== null && <span>{t.notApplied(number(status))}</span>}
      <details class="reviews-change">
        <summary class="muted">{t.beforeAfter}</summary>
        <div class="reviews-both">
          <h3>{t.before}</h3>
          <Body value={before} />
          <h3>{t.after}</h3>
          <Body value={after} />
        </div>
      </details>
    </>
  );
}

function statusIn(record: LoggedRecord, kind: Line['kind'], targetId: string | null): number | undefined {
  if (kind === 'text') return record.text.status;
  const among = kind === 'picture' ? record.pictures : kind === 'reply' ? record.replies : [];
  return among.find(({ id }) => id === targetId)?.status;
}
