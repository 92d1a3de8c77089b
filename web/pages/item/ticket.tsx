import { useState } from 'preact/hooks';
import { get, type Schemas } from '../../api/client.ts';
import { mayAct } from '../../api/session.ts';
import { State } from '../../components/badge.tsx';
import { number } from '../../components/format.ts';
import { Notes } from '../../components/notes.tsx';
import { type Fact, linked } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { queuePath, withQuery } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { Explain } from './explain.tsx';
import { ItemView, JsonSection } from './item-view.tsx';
import { Looks } from './looks.tsx';
import { isAbout } from './sources.ts';
import { TicketActions } from './ticket-actions.tsx';

type Ticket = Schemas['Ticket'];
const OPEN = ['delayed', 'waiting', 'held'];

export function TicketParts({ id }: { id: string }) {
  const t = texts.value.items;
  const [note, write] = useState('');
  return (
    <ItemView
      {...{ kind: 'ticket', id }}
      load={(signal) => get('/v1/tickets/{id}', { path: { id } }, signal)}
      facts={factsOf}
      actions={(ticket, refresh) => OPEN.includes(ticket.state) && <TicketActions {...{ ticket, refresh }} />}
    >
      {(ticket, refresh) => (
        <>
          <JsonSection title={t.body} value={ticket.body} erased={ticket.erased} />
          {(ticket.of || ticket.state === 'decided') && <Looks {...{ ticket, refresh }} />}
          {OPEN.includes(ticket.state) && mayAct('producer', 'agent') && <Explain ticket={ticket} />}
          {!ticket.erased && <Notes id={id} on={isAbout('ticket', id)} draft={{ text: note, write }} />}
        </>
      )}
    </ItemView>
  );
}

function factsOf(ticket: Ticket): Fact[] {
  const { fields: f } = texts.value.items;
  const { subject: subjectLabel, category: categoryLabel } = texts.value.lists;
  const { lease, invalidation, decidedAt, deadlineAt, subject, forUntil } = ticket;
  return [
    [f.state, <State key="state" state={ticket.state} />],
    linked(f.queue, queuePath('ticket', ticket.queue), ticket.queue),
    subject !== null && [subjectLabel, <BySubject key="subject" subject={subject} />],
    ticket.category !== null && [categoryLabel, <bdi key="category">{ticket.category}</bdi>],
    [f.priority, number(ticket.priority)],
    ticket.for !== null && [f.keptFor, <bdi key="for">{ticket.for}</bdi>],
    forUntil !== null && [f.keptUntil, <When key="for until" at={forUntil} />],
    lease && [f.holder, <bdi key="holder">{lease.reviewer}</bdi>],
    lease && [f.leaseSince, <When key="since" at={lease.grantedAt} />],
    lease && [f.leaseUntil, <When key="until" at={lease.expiresAt} />],
    ticket.state === 'delayed' && [f.availableAt, <When key="available" at={ticket.availableAt} />],
    deadlineAt !== null && [f.deadline, <When key="deadline" at={deadlineAt} />],
    ticket.decidedBy !== null && [f.decidedBy, <bdi key="by">{ticket.decidedBy}</bdi>],
    decidedAt !== null && [f.decidedAt, <When key="at" at={decidedAt} />],
    ticket.reason !== null && [f.reason, <bdi key="reason">{ticket.reason}</bdi>],
    invalidation && [f.invalidatedBy, <bdi key="invalidated">{invalidation.by}</bdi>],
    invalidation && [f.reason, <bdi key="why">{invalidation.reason}</bdi>],
    invalidation && [f.endedAt, <When key="ended" at={invalidation.at} />],
    [f.createdAt, <When key="created" at={ticket.createdAt} />],
    [f.attempts, number(ticket.attempts)],
    ticket.requires.length > 0 && [f.requires, ticket.requires.join(', ')],
    ticket.exclude.length > 0 && [f.exclude, ticket.exclude.join(', ')],
  ];
}

/** A subject, which leads to the list of its tickets. */
const BySubject = ({ subject }: { subject: string }) => (
  <a href={withQuery('/search', { kind: 'ticket', subject })}>
    <bdi>{subject}</bdi>
  </a>
);
