import { useLocation } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { useGet, useList } from '../../api/resource.ts';
import { Field } from '../../components/field.tsx';
import { moment, number } from '../../components/format.ts';
import { Button, Facts, Page, Section, submitting } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { reviewPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import './reviews.css';

type Review = Schemas['Review'];
const isReview = ({ kind }: { kind: string }) => kind === 'review';

/** Reviews with the statuses that audits gave them, newest first, and what became of today's callbacks. */
export function Reviews() {
  const t = texts.value.reviews;
  const { route } = useLocation();
  const list = useList('/v1/reviews', {}, isReview);
  const jump = (form: HTMLFormElement) => {
    const id = String(new FormData(form).get('id') ?? '').trim();
    if (id !== '') route(reviewPath(id));
  };
  return (
    <Page title={texts.value.pages.reviews}>
      <Today />
      <Listing title={t.all} list={list} columns={columns()} empty={t.none}>
        <form class="ask panel-body" onSubmit={submitting(jump)}>
          <Field label={t.id}>{(field) => <input {...field} name="id" type="text" />}</Field>
          <Button does={texts.value.lists.open} />
        </form>
      </Listing>
    </Page>
  );
}

function columns(): Column<Review>[] {
  const { columns: c } = texts.value.reviews;
  return [
    { title: texts.value.items.kinds.review, cell: ({ id }) => <a href={reviewPath(id)}>{id}</a> },
    { title: c.status, numeric: true, cell: ({ status }) => number(status) },
    { title: c.pictures, numeric: true, cell: ({ pictures }) => number(pictures.length) },
    { title: c.replies, numeric: true, cell: ({ replies }) => number(replies.length) },
    { title: c.updated, numeric: true, cell: ({ updatedAt }) => moment(updatedAt) },
  ];
}

/** Keys that are bound to queues may not read it, so it is left out where it cannot be had. */
function Today() {
  const t = texts.value.reviews;
  const stats = useGet('/v1/review-stats', {}, { on: isReview });
  if (!stats.data) return null;
  const { applied, expired, repeated, edited, day } = stats.data;
  const counts: [string, number][] = [
    [t.outcomes.applied ?? '', applied],
    [t.outcomes.expired ?? '', expired],
    [t.outcomes.duplicate ?? '', repeated],
    [t.outcomes.edited ?? '', edited],
  ];
  return (
    <Section title={t.today(day)}>
      <Facts facts={counts.map(([label, n]) => [label, number(n)])} />
    </Section>
  );
}
