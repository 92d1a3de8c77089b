import { type ComponentChildren, Fragment } from 'preact';
import { useResource } from '../../api/resource.ts';
import { Badge, State } from '../../components/badge.tsx';
import { Marked } from '../../components/body/text.tsx';
import { number } from '../../components/format.ts';
import { Loaded } from '../../components/page.tsx';
import { SelectAll, type Selection, selecting } from '../../components/selection.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { ShortMoment } from '../../components/when.tsx';
import { itemPath, type ListKind, queuePath, withQuery } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { type Filter, isOpen } from './filters.ts';
import { loadRows, type Row } from './rows.ts';

type Ticket = NonNullable<Row['ticket']>;

interface Props {
  kind: ListKind;
  filter: Filter;
  /** The address of the list without its filter. */
  base: string;
  /** Shown once at the top of the list instead of in each line. */
  fixedQueue?: boolean;
  /** Open items that are selected; left out: none can be. */
  selected?: Selection;
}

/** Of a busy queue, lists follow by the second. */
const GAP_MS = 1_000;

/** One page of tickets, jobs or cases as it changes: newest first, or of tickets the oldest. */
export function ItemList({ kind, filter, base, fixedQueue = false, selected }: Props) {
  const t = texts.value.lists;
  const { cursor, ...rest } = filter;
  const of = JSON.stringify([kind, rest]);
  // another page of the same list stays until the new one is there
  const options = { on: (event: { kind: string }) => event.kind === kind, gapMs: GAP_MS, about: of };
  const found = useResource((signal) => loadRows(kind, filter, signal), [of, cursor], options);
  const link = (to: Filter) =>
    withQuery(base, { ...(fixedQueue ? {} : { kind }), ...rest, ...(fixedQueue && { queue: '' }), ...to });
  const isOldest = filter.order === 'oldest';
  const sorted: Column<Row>['sorted'] = {
    as: isOldest ? 'ascending' : 'descending',
    opposite: link({ order: isOldest ? '' : 'oldest' }),
  };
  return (
    <Loaded of={found}>
      {({ items, nextCursor }) => (
        <>
          {selected && <SelectAll shown={items.filter(({ state }) => isOpen(state)).map(idOf)} {...selected} />}
          <Table
            caption={texts.value.deliveries.kinds[kind]}
            columns={columnsOf(kind, items, fixedQueue, selected, sorted)}
            rows={items}
            empty={kind === 'job' && !filter.queue ? t.nameTopic : t.none}
          />
          {(cursor || nextCursor) && (
            <nav class="list-pages bar" aria-label={t.pages}>
              {cursor ? <a href={link({})}>{t.first}</a> : <span />}
              {nextCursor && <a href={link({ cursor: nextCursor })}>{t.next}</a>}
            </nav>
          )}
        </>
      )}
    </Loaded>
  );
}

const idOf = ({ id }: Row) => id;

function columnsOf(
  kind: ListKind,
  rows: Row[],
  fixedQueue: boolean,
  selected: Props['selected'],
  sorted: NonNullable<Column<Row>['sorted']>,
): (Column<Row> | false)[] {
  const t = texts.value.lists;
  const { fields: f } = texts.value.items;
  const has = (what: (ticket: Ticket) => unknown) => rows.some(({ ticket }) => ticket && what(ticket));
  return [
    {
      title: t.id,
      cell: ({ id }) => <a href={itemPath(kind, id)}>{id}</a>,
    },
    selected !== undefined && selecting(selected, idOf, ({ id, state }) => (isOpen(state) ? id : undefined)),
    {
      title: texts.value.items.body,
      cell: ({ body }) => (
        <bdi class="list-content">
          <Preview of={body} />
        </bdi>
      ),
    },
    { title: f.state, cell: ({ state }) => <State state={state} /> },
    has(({ decidedAt }) => decidedAt) && {
      title: texts.value.items.decision,
      cell: ({ ticket }) => ticket && <Decision ticket={ticket} />,
    },
    kind === 'ticket' && { title: t.reviewer, cell: ({ who }) => <bdi>{who ?? '–'}</bdi> },
    kind === 'case' && { title: f.winner, cell: ({ who }) => who ?? '–' },
    kind === 'job' &&
      rows.some(({ who }) => who) && { title: f.lastReason, cell: ({ who }) => <bdi>{who ?? '–'}</bdi> },
    {
      title: f.createdAt,
      numeric: true,
      ...(kind === 'ticket' && { sorted }),
      cell: ({ createdAt }) => <ShortMoment at={createdAt} />,
    },
    !fixedQueue && {
      title: texts.value.numbers.queueOf[kind],
      cell: ({ queue }) => <a href={queuePath(kind, queue)}>{queue}</a>,
    },
    has(({ subject }) => subject) && {
      title: t.subject,
      cell: ({ ticket }) => <bdi>{ticket?.subject ?? '–'}</bdi>,
    },
    (kind !== 'ticket' || rows.some(({ figure }) => figure !== 0)) && {
      title: kind === 'case' ? f.votesLeft : f.priority,
      numeric: true,
      cell: ({ figure }) => number(figure),
    },
  ];
}

/** What was decided, and what counts now if that is something else. */
function Decision({ ticket: { id, decidedAt, decision, standing, automation } }: { ticket: Ticket }) {
  const t = texts.value.lists;
  if (decidedAt === null) return <>–</>;
  const isOverturned = standing !== null && standing.ticket !== id;
  return (
    <>
      <bdi class={isOverturned ? 'list-overturned' : undefined}>{verdictIn(decision)}</bdi>{' '}
      {isOverturned && <bdi>{verdictIn(standing.decision)}</bdi>}{' '}
      {isOverturned && <Badge tone="bad">{t.isOverturned.true}</Badge>}
      {automation !== 'none' && <Badge>{t.automations[automation]}</Badge>}
      <span class="list-when muted">
        <ShortMoment at={decidedAt} />
      </span>
    </>
  );
}

/** Characters of a preview. */
const MOST = 120;
const DOT = ' · ';
/** They would not stay in one line. */
const BREAKS = /[\p{Cc}\s]+/gu;

/** Of several words, or in a script that puts no spaces between them. */
const SENTENCE = /\s|[^ -\u024f]/u;

/** The first texts of a body, in one line: sentences before names and figures. */
function Preview({ of: body }: { of: unknown }) {
  const texts: string[] = [];
  let length = 0;
  const take = (value: unknown): void => {
    if (length > MOST || value === null || value === undefined) return;
    if (typeof value === 'object') {
      for (const one of Object.values(value)) take(one);
      return;
    }
    const text = String(value).slice(0, MOST).replaceAll(BREAKS, ' ').trim();
    texts.push(text);
    length += text.length;
  };
  take(body);
  const sentences = texts.filter((text) => SENTENCE.test(text));
  const parts = sentences.length > 0 ? sentences : texts;
  let left = MOST;
  const shown = parts.map((part) => {
    const some = part.slice(0, Math.max(0, left));
    left -= part.length + DOT.length;
    return some;
  });
  const isCut = left + DOT.length < 0;
  const [first = '', ...rest] = shown.filter((part) => part !== '');
  if (rest.length === 0)
    return (
      <>
        <Marked text={first} />
        {isCut && '…'}
      </>
    );
  // each with a direction of its own, in one from left to right
  return (
    <span dir="ltr">
      <bdi>
        <Marked text={first} />
      </bdi>
      {rest.map((part, n) => (
        <Fragment key={n}>
          {DOT}
          <bdi>
            <Marked text={part} />
          </bdi>
        </Fragment>
      ))}
      {isCut && '…'}
    </span>
  );
}

/** What a decision says in a word, as the API's filter `verdict` has it; all of one that has no verdict. */
function verdictIn(decision: unknown): ComponentChildren {
  const verdict =
    typeof decision === 'object' && decision !== null && 'verdict' in decision ? decision.verdict : decision;
  return typeof verdict === 'string' ? verdict : <Preview of={verdict} />;
}
