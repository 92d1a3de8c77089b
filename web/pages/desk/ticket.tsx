import { useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { session } from '../../api/session.ts';
import { Body } from '../../components/body/body.tsx';
import { SIZES, STARTS, setViewing, type Viewing, viewingOf } from '../../components/body/viewing.ts';
import { dayAndTime, moment, number } from '../../components/format.ts';
import { LeaseTime } from '../../components/lease.tsx';
import { type Fact, Facts } from '../../components/page.tsx';
import { personAt } from '../../components/person.tsx';
import { texts } from '../../texts/texts.ts';
import { Subject } from './subject.tsx';
import { Why } from './why.tsx';

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
  const [word, setWord] = useState('');
  const reviewer = personAt(session.value) ?? '';
  const day = (iso: string) => <time title={moment(iso)}>{dayAndTime(new Date(iso))}</time>;
  const facts: Fact[] = [
    [t.meta.priority, number(ticket.priority)],
    [t.meta.attempts, number(ticket.attempts)],
    [t.meta.waiting, day(ticket.createdAt)],
    ticket.deadlineAt !== null && [t.meta.deadline, day(ticket.deadlineAt)],
    ticket.requires.length > 0 && [t.meta.requires, ticket.requires.join(', ')],
  ];
  return (
    <section class="panel desk-ticket" aria-labelledby="desk-ticket">
      <header class="panel-head">
        <h2 id="desk-ticket" tabIndex={-1}>
          {t.ticket(ticket.id)}
        </h2>
        <Facts look="desk-facts row" facts={facts} />
        {expiresMs !== undefined && <LeaseTime expiresMs={expiresMs} />}
      </header>
      {changed && (
        <p class="note warn" role="status">
          {t.changed}
        </p>
      )}
      {ticket.subject && expiresMs !== undefined && (
        <Subject ticket={ticket} form={settings.form} reviewer={reviewer} />
      )}
      <div class="desk-tools row">
        <Find word={word} setWord={setWord} />
        <ViewingChoice />
        <Why ticket={ticket} settings={settings} />
      </div>
      <section class="desk-body panel-body" aria-label={texts.value.lists.content}>
        <Body value={ticket.body} revealed={revealed} word={word.trim()} highlight={settings.highlight ?? []} />
      </section>
    </section>
  );
}

/** Marks a word in the content; Enter goes from mark to mark. */
function Find({ word, setWord }: { word: string; setWord: (word: string) => void }) {
  const t = texts.value.desk;
  const at = useRef(-1);
  const go = (event: SubmitEvent) => {
    event.preventDefault();
    const marks = document.querySelectorAll('.desk-body mark:not(.highlight)');
    at.current = (at.current + 1) % Math.max(1, marks.length);
    marks[at.current]?.scrollIntoView({ block: 'center' });
  };
  return (
    <form onSubmit={go}>
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
  const select = <K extends 'start' | 'size'>(
    name: K,
    options: readonly Viewing[K][],
    words: Record<string, string>,
  ) => (
    <label>
      {t[name]}
      <select
        aria-label={t[name]}
        value={viewing[name]}
        onChange={(event) => setViewing(person, { [name]: event.currentTarget.value as Viewing[K] })}
      >
        {options.map((one) => (
          <option key={one} value={one}>
            {words[one]}
          </option>
        ))}
      </select>
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
        {select('start', STARTS, t.starts)}
        {select('size', SIZES, t.sizes)}
        {box('grey')}
        {box('sound')}
      </div>
    </details>
  );
}
