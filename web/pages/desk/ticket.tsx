import { useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { Badge } from '../../components/badge.tsx';
import { Body } from '../../components/body/body.tsx';
import { SIZES, STARTS, setViewing, viewingOf } from '../../components/body/viewing.ts';
import { Select } from '../../components/field.tsx';
import { type Option, picked } from '../../components/form/spec.ts';
import { moment, number, span } from '../../components/format.ts';
import { type Fact, Facts, submitting } from '../../components/page.tsx';
import { personAt } from '../../components/person.tsx';
import { LeaseTime, ShortMoment } from '../../components/when.tsx';
import { texts } from '../../texts/texts.ts';
import { decisionForm } from './decision.tsx';
import { wordsOf } from './schema.ts';
import { decidesOthers } from './shelf.ts';

interface Props {
  ticket: Schemas['HandedTicket'];
  settings: Schemas['Queue'];
  /** Of the lease; undefined: another window's. */
  expiresMs?: number;
  changed?: boolean;
  /** Whether all media are shown. */
  revealed: boolean;
}

/** What the reviewer decides about. */
export function TicketView({ ticket, settings, expiresMs, changed, revealed }: Props) {
  const t = texts.value.desk;
  const { fields: f, data, looks } = texts.value.items;
  const [word, setWord] = useState('');
  const reviewer = personAt(session.value) ?? '';
  const facts: Fact[] = [
    [f.priority, number(ticket.priority)],
    ticket.attempts > 1 && [data.attempt, number(ticket.attempts)],
    [f.createdAt, <ShortMoment key="created" at={ticket.createdAt} />],
    ticket.deadlineAt !== null && [f.deadline, <ShortMoment key="deadline" at={ticket.deadlineAt} />],
    ticket.requires.length > 0 && [f.requires, ticket.requires.join(', ')],
  ];
  return (
    <section class="panel desk-ticket" aria-labelledby="desk-ticket">
      <header class="panel-head">
        <h2 id="desk-ticket" tabIndex={-1}>
          {t.ticket(ticket.id)}
        </h2>
        {ticket.of && <Badge tone="info">{looks.badge(looks.causes[ticket.of.cause])}</Badge>}
        <Facts look="desk-facts row" facts={facts} />
        {expiresMs !== undefined && <LeaseTime expiresMs={expiresMs} />}
      </header>
      {changed && (
        <p class="note warn" role="status">
          {t.changed}
        </p>
      )}
      {ticket.subject && expiresMs !== undefined && <Subject ticket={ticket} settings={settings} reviewer={reviewer} />}
      <div class="desk-tools row">
        <Find word={word} setWord={setWord} />
        <ViewingChoice />
        <Why ticket={ticket} settings={settings} />
      </div>
      <section class="desk-body panel-body" aria-label={texts.value.items.body}>
        <Body value={ticket.body} revealed={revealed} word={word.trim()} highlight={settings.highlight ?? []} />
      </section>
    </section>
  );
}

/** Marks a word in the content; Enter goes from mark to mark. */
function Find({ word, setWord }: { word: string; setWord: (word: string) => void }) {
  const t = texts.value.desk;
  const at = useRef(-1);
  const go = () => {
    const marks = document.querySelectorAll('.desk-body mark:not(.highlight)');
    at.current = (at.current + 1) % Math.max(1, marks.length);
    marks[at.current]?.scrollIntoView({ block: 'center' });
  };
  return (
    <form onSubmit={submitting(go)}>
      <input
        type="search"
        class="desk-find"
        aria-label={t.find}
        placeholder={`${t.find} ( / )`}
        value={word}
        onInput={(event) => {
          at.current = -1;
          setWord(event.currentTarget.value);
        }}
      />
    </form>
  );
}

/** How this person sees media on every ticket. */
function ViewingChoice() {
  const t = texts.value.desk.viewing;
  const person = personAt(session.value);
  const viewing = viewingOf(person);
  const select = (name: 'start' | 'size', options: Option[]) => (
    <label for={`viewing-${name}`}>
      {t[name]}
      <Select
        id={`viewing-${name}`}
        aria-label={t[name]}
        options={options}
        value={viewing[name]}
        set={(chosen) => setViewing(person, { [name]: chosen })}
      />
    </label>
  );
  const box = (name: 'grey' | 'sound') => (
    <label>
      <input
        type="checkbox"
        checked={viewing[name]}
        onChange={(event) => setViewing(person, { [name]: event.currentTarget.checked })}
      />
      {t[name]}
    </label>
  );
  return (
    <details class="desk-viewing">
      <summary>{t.title}</summary>
      <div class="row">
        {select('start', picked(STARTS, t.starts))}
        {select('size', picked(SIZES, t.sizes))}
        {box('grey')}
        {box('sound')}
      </div>
    </details>
  );
}

interface WhyProps {
  ticket: Schemas['HandedTicket'];
  settings: Schemas['Queue'];
}

/** Why the reviewer has this ticket and not another, by what orders its queue. */
function Why({ ticket, settings }: WhyProps) {
  const { title } = texts.value.desk.mine;
  return (
    <details class="desk-why">
      <summary>{title}</summary>
      <ul>
        {reasonsFor({ ticket, settings }).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  );
}

function reasonsFor({ ticket, settings: { ageing, reclaimedFirst, escalations } }: WhyProps): string[] {
  const t = texts.value.desk.mine;
  const { resumed, attempts, requires, priority, availableAt } = ticket;
  const before = attempts - 1;
  const found: (string | false | undefined)[] = [
    resumed && t.resumed,
    requires.length > 0 && t.requires(requires.join(', ')),
    before > 0 && reclaimedFirst && t.reclaimed,
    before > 0 && t.before(number(before)),
    ageing ? t.byAge(span(ageing.secondsPerLevel)) : t.byPriority,
    (escalations?.length ?? 0) > 0 && t.escalates,
    t.its(number(priority), moment(availableAt)),
  ];
  return found.filter((line) => typeof line === 'string');
}

interface SubjectProps extends WhyProps {
  reviewer: string;
}

/** What else there is of the ticket's subject, in a line. */
function Subject({ ticket, settings, reviewer }: SubjectProps) {
  const t = texts.value.desk.subject;
  const { id, subject } = ticket;
  const context = useGet('/v1/tickets/{id}/context', { path: { id }, query: { reviewer } });
  if (!context.data) return null;
  const { open, decided, last } = context.data;
  const words = last.map(({ decision }) => wordsOf(decisionForm(settings.form), decision));
  return (
    <p class="desk-subject">
      <span class="muted">{t.title}</span> <bdi>{subject}</bdi>
      <span class="muted">
        {' · '}
        {t.others(number(open), number(decided))}
        {words.length > 0 && ` · ${t.last(words.join(', '))}`}
      </span>
      {open > 0 && decidesOthers(ticket, settings) && <strong> · {t.decidesOthers}</strong>}
    </p>
  );
}
