import { api, data, type Schemas } from '../../api/client.ts';
import { useGet, useList, useQueues } from '../../api/resource.ts';
import { Action } from '../../components/action.tsx';
import { Badge } from '../../components/badge.tsx';
import { Body } from '../../components/body/body.tsx';
import { Fold } from '../../components/fold.tsx';
import { moment, number, spent } from '../../components/format.ts';
import { Facts, Loaded, Section } from '../../components/page.tsx';
import { PersonPage } from '../../components/person.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { decisionForm } from './decision.tsx';
import { wordsOf } from './schema.ts';

type Ticket = Schemas['Ticket'];

/** A reviewer's own work: what they decided, and which of it was overturned. Gold is in it as any ticket is. */
export function Mine() {
  const { pages, desk } = texts.value;
  return (
    <PersonPage title={pages.mine} hint={desk.whoHint}>
      {(person) => [<Today key={`today ${person}`} person={person} />, <Decided key={person} person={person} />]}
    </PersonPage>
  );
}

function Today({ person }: { person: string }) {
  const { calendar, numbers } = texts.value;
  const c = numbers.columns;
  const from = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  const found = useGet('/v1/figures/people', { query: { kind: 'ticket', person, from } });
  return (
    <Section title={calendar.today}>
      <Loaded of={found}>
        {({ reviewers: [of] }) => (
          <Facts
            facts={[
              [c.decisions, number(of?.decisions ?? 0)],
              [c.median, spent(of?.medianHandlingSeconds ?? null)],
              [c.skips, number(of?.skips ?? 0)],
              [c.releases, number(of?.releases ?? 0)],
              [c.expiries, number(of?.expiries ?? 0)],
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function Decided({ person }: { person: string }) {
  const { mine: t, items, lists, pages, schedules, form } = texts.value;
  const { fields: f, looks } = items;
  const queues = useQueues();
  const list = useList('/v1/tickets', { query: { reviewer: person, state: 'decided' } });
  const said = ({ queue }: Ticket, decision: unknown) =>
    wordsOf(decisionForm(queues.find(({ name }) => name === queue)?.form), decision);
  const now = (ticket: Ticket) =>
    ticket.standing && ticket.standing.ticket !== ticket.id ? (
      <>
        <Badge tone="bad">{items.events.overturned}</Badge> {said(ticket, ticket.standing.decision)}{' '}
        <span class="muted">{ticket.standing.reason}</span>
      </>
    ) : (
      '–'
    );
  const columns: Column<Ticket>[] = [
    { title: lists.id, cell: ({ id }) => <bdi>{id}</bdi> },
    { title: f.queue, cell: ({ queue }) => <bdi>{queue}</bdi> },
    { title: f.decidedAt, cell: ({ decidedAt }) => decidedAt && moment(decidedAt) },
    { title: items.body, cell: ({ body }) => <Fold summary={form.show}>{() => <Body value={body} />}</Fold> },
    { title: items.decision, cell: (ticket) => said(ticket, ticket.decision) },
    { title: looks.stands, cell: now },
    { title: schedules.columns.actions, cell: ({ id }) => <Dispute id={id} person={person} /> },
  ];
  return <Listing title={pages.mine} list={list} columns={columns} empty={t.none} />;
}

function Dispute({ id, person }: { id: string; person: string }) {
  const t = texts.value.mine;
  const fields = [{ kind: 'text', name: 'reason', said: t.reason, isLong: true, empty: 'required' } as const];
  const send = ({ reason }: { reason: string }) =>
    data(api.POST('/v1/tickets/{id}/dispute', { params: { path: { id } }, body: { reason, reviewer: person } }));
  return <Action label={t.dispute} about={id} fields={fields} run={send} done={t.disputed} />;
}
