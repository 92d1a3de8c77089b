import type { Schemas } from '../../api/client.ts';
import { mayAct } from '../../api/session.ts';
import { number, percent, spent } from '../../components/format.ts';
import { Empty, Loaded, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { READERS, withQuery } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { Covered, useFigures } from './covered.tsx';
import type { Wanted } from './wanted.ts';

type Reviewer = Schemas['ReviewerFigures'];
type Juror = Schemas['JurorFigures'];

interface Props {
  wanted: Wanted & { kind: 'ticket' | 'case' };
  /** Another one: what has been answered is old. */
  sign: string | null;
}

/** What each reviewer or juror did in that time. */
export function People({ wanted, sign }: Props) {
  const t = texts.value.numbers;
  const isCourt = wanted.kind === 'case';
  const title = isCourt ? t.jurors : t.reviewers;
  if (isCourt && wanted.queue === '')
    return (
      <Section title={title}>
        <Empty>{t.chooseCourt}</Empty>
      </Section>
    );
  return <Persons title={title} wanted={wanted} sign={sign} />;
}

function Persons({ title, wanted, sign }: Props & { title: string }) {
  const t = texts.value.numbers;
  const { kind, queue } = wanted;
  const people = useFigures('/v1/figures/people', wanted, sign);
  const shared = { caption: title, rowKey: ({ person }: { person: string }) => person };
  return (
    <Section title={title}>
      <Loaded of={people}>
        {({ reviewers, jurors, ...covered }) => (
          <>
            <Covered {...covered} first={reviewers.length + jurors.length} />
            {kind === 'case' ? (
              <Table columns={jurorColumns()} rows={jurors} empty={t.noJurors} {...shared} />
            ) : (
              <Table columns={reviewerColumns(queue)} rows={reviewers} empty={t.noReviewers} {...shared} />
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

/** 0 is less loud than the rest. */
export const count = (n: number) => (n === 0 ? <span class="muted">0</span> : number(n));

/** Tickets that someone holds or has decided. */
export const ticketsOf = (queue: string, person: string, more: Record<string, string> = {}) =>
  withQuery('/search', { kind: 'ticket', queue, reviewer: person, ...more });

/** A person's name, which leads to their tickets for whoever may read those. */
export function PersonLink({ queue, person }: { queue: string; person: string }) {
  const name = <bdi>{person}</bdi>;
  return mayAct(...READERS.ticket) ? <a href={ticketsOf(queue, person)}>{name}</a> : name;
}

function reviewerColumns(queue: string): Column<Reviewer>[] {
  const { columns: c } = texts.value.numbers;
  return [
    { title: texts.value.lists.reviewer, cell: ({ person }) => <PersonLink queue={queue} person={person} /> },
    { title: c.decisions, numeric: true, cell: (r) => count(r.decisions) },
    { title: c.median, numeric: true, cell: (r) => spent(r.medianHandlingSeconds) },
    { title: c.skips, numeric: true, cell: (r) => count(r.skips) },
    { title: c.releases, numeric: true, cell: (r) => count(r.releases) },
    { title: c.expiries, numeric: true, cell: (r) => count(r.expiries) },
  ];
}

function jurorColumns(): Column<Juror>[] {
  const t = texts.value.numbers;
  const c = t.columns;
  const of = (agreed: number, judged: number) => (judged === 0 ? '–' : t.of(number(agreed), number(judged)));
  return [
    { title: texts.value.lists.reviewer, cell: ({ person }) => <bdi>{person}</bdi> },
    { title: t.charts.votes, numeric: true, cell: (j) => count(j.votes) },
    { title: t.lines.wasted ?? '', numeric: true, cell: (j) => count(j.wasted) },
    {
      title: c.agreement,
      numeric: true,
      cell: (j) => (j.agreement === null ? '–' : percent(j.agreement)),
    },
    { title: c.judged, numeric: true, cell: (j) => of(j.agreed, j.judged) },
    { title: c.gold, numeric: true, cell: (j) => (j.gold ? of(j.gold.agreed, j.gold.judged) : '–') },
    { title: c.median, numeric: true, cell: (j) => spent(j.medianHandlingSeconds) },
  ];
}
