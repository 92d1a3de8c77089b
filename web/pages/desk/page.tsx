import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { useStream } from '../../api/stream.ts';
import { play } from '../../components/body/media.tsx';
import { viewingOf } from '../../components/body/viewing.ts';
import type { Draft } from '../../components/form/draft.ts';
import { number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { Button, type Fact, Facts, Loaded, Loading, Page, ProblemNote } from '../../components/page.tsx';
import { ChoosePerson, PersonShown, personAt } from '../../components/person.tsx';
import { texts } from '../../texts/texts.ts';
import { askFirst } from '../../unsaved.ts';
import { useArrivals } from './arrivals.ts';
import { callsOf, type Who } from './calls.ts';
import { Decision, decisionForm } from './decision.tsx';
import { Desk } from './desk.ts';
import './desk.css';
import { Guidelines } from './guidelines.tsx';
import { LeaveDialog, type Leaving } from './leave.tsx';
import { Macros, useMacros } from './macros.tsx';
import { DeskNotes } from './notes.tsx';
import { NothingYet } from './nothing.tsx';
import type { DecisionForm } from './schema.ts';
import { type Held, isSending, secondsEach } from './shelf.ts';
import { skills } from './skills.ts';
import { LateNotes, LostNote, PendingNote } from './states.tsx';
import { draftFrom, Suggested } from './suggested.tsx';
import { TicketView } from './ticket.tsx';
import { useWindows } from './windows.ts';

const SETTINGS_MS = 10_000;

/** A reviewer's desk at one queue. */
export function DeskPage() {
  const t = texts.value.desk;
  const queue = useRoute().params.queue ?? '';
  const reviewer = personAt(session.value);
  const settings = useGet('/v1/queues/{queue}', { path: { queue } }, { everyMs: SETTINGS_MS });
  if (reviewer === null || !settings.data)
    return (
      <Page title={t.title(queue)}>
        {reviewer === null ? <ChoosePerson hint={t.whoHint} /> : <Loaded of={settings}>{() => null}</Loaded>}
      </Page>
    );
  const who = { queue, reviewer, skills: [...skills.value] };
  return <Place key={`${queue} ${reviewer}`} settings={settings.data} refresh={settings.refresh} who={who} />;
}

interface WorkProps {
  settings: Schemas['Queue'];
  refresh: () => void;
  who: Who;
}

/** The window that works, or one that follows it. */
function Place(work: WorkProps) {
  const { settings, who } = work;
  const [shown, show] = useState<Schemas['HandedTicket'] | null>(null);
  const { isFirst, followed, takeOver } = useWindows(`${who.queue} ${who.reviewer}`, shown);
  const t = texts.value.desk;
  if (isFirst) return <Work {...work} show={show} />;
  return (
    <Page title={t.title(who.queue)}>
      {isFirst === undefined ? (
        <Loading />
      ) : (
        <div class="note warn" role="status">
          <p>{t.second}</p>
          <Button does={t.takeOver} run={takeOver} />
        </div>
      )}
      {followed && <TicketView key={followed.id} ticket={followed} settings={settings} revealed={false} />}
    </Page>
  );
}

function Work({
  settings,
  refresh,
  who,
  show,
}: WorkProps & { show: (ticket: Schemas['HandedTicket'] | null) => void }) {
  const t = texts.value.desk;
  const desk = useMemo(() => new Desk(callsOf(who)), []);
  desk.maxHeld = settings.maxHeld ?? 1;
  const { route } = useLocation();
  useEffect(() => desk.open(), []);
  useStream({ reviewer: who.reviewer }, { onEvent: (event) => desk.noticed(event), onOpen: () => desk.lookAgain() });
  const shelf = desk.shelf.value;
  const { current, pending, lost } = shelf;
  useEffect(() => show(current?.ticket ?? null), [current?.ticket]);
  // a form that refuses what it offers is another one by now
  useEffect(() => void (current?.problem && refresh()), [current?.problem]);
  const viewing = viewingOf(who.reviewer);
  const arrived = useArrivals(who.queue, current !== null, viewing.sound);
  const [revealed, setRevealed] = useState<[id: string, is: boolean] | null>(null);
  useFocus(current?.ticket.id, lost?.ticket.id, current ? undefined : pending?.held.ticket.id);
  const form = decisionForm(settings.form);
  const macros = useMacros(who);
  const stop = async () => {
    const from = location.pathname;
    await desk.stop();
    // unless they have gone elsewhere meanwhile
    if (location.pathname === from) route('/desk');
  };
  const actions = (
    <>
      <PersonShown />
      <Button does={t.stop} run={() => askFirst(() => stop())} title={t.stopHint} />
    </>
  );
  const id = current?.ticket.id ?? '';
  const isRevealed = revealed?.[0] === id ? revealed[1] : viewing.start === 'shown';
  return (
    <Page title={t.title(who.queue)} mark={arrived ? '●' : ''} actions={actions}>
      <div class="desk-status">
        <Session desk={desk} />
        {pending && <PendingNote {...{ pending, desk, form, settings }} isAll={!current && !lost} />}
      </div>
      <div class="desk-work">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys */}
        <section class="desk-left" tabIndex={0} aria-label={t.reading}>
          {settings.paused && <p class="note warn">{t.paused}</p>}
          <LateNotes late={shelf.late} form={form} dismiss={() => desk.dismissLate()} />
          <DeskProblem desk={desk} />
          {lost && <LostView desk={desk} />}
          {current && <TicketView key={id} {...current} settings={settings} revealed={isRevealed} />}
          {!current && !lost && <Between desk={desk} who={who} />}
          <DeskNotes shelf={shelf} reviewer={who.reviewer} />
        </section>
        {current && (
          <Side
            key={id}
            desk={desk}
            held={current}
            form={form}
            macros={macros}
            who={who}
            settings={settings}
            reveal={() => setRevealed([id, !isRevealed])}
          />
        )}
      </div>
    </Page>
  );
}

/** Why nothing comes, and that nothing which was decided is lost by it. */
function DeskProblem({ desk }: { desk: Desk }) {
  const problem = desk.problem.value;
  const isKept = problem?.code === 'unauthenticated' && isSending(desk.shelf.value);
  if (!problem) return null;
  return (
    <ProblemNote problem={problem} retry={() => void desk.fill()}>
      {isKept && <p>{texts.value.desk.pending.kept}</p>}
    </ProblemNote>
  );
}

/** To what has just come, so that keys and screen readers go on from there; never out of a field or a dialog. */
function useFocus(...shown: (string | undefined)[]): void {
  useEffect(() => {
    const at = document.activeElement;
    if (document.querySelector('dialog[open]') || at?.matches('input, textarea, select')) return;
    const heading = document.querySelector<HTMLElement>('.desk-ticket h2');
    const button = document.querySelector<HTMLElement>('.desk-lost button.primary, .desk-pending button.primary');
    (heading ?? button)?.focus({ preventScroll: heading === null });
  }, shown);
}

function LostView({ desk }: { desk: Desk }) {
  const { lost } = desk.shelf.value;
  useShortcuts([{ key: 'n', does: texts.value.desk.lost.next, run: () => desk.goOn() }]);
  if (!lost) return null;
  return <LostNote lost={lost} draft={desk.drafts.of.value[lost.ticket.id]} goOn={() => desk.goOn()} />;
}

const focusOn = (selector: string) => () => document.querySelector<HTMLElement>(selector)?.focus();

interface SideProps {
  desk: Desk;
  held: Held;
  form: DecisionForm;
  macros: ReturnType<typeof useMacros>;
  who: Who;
  settings: Schemas['Queue'];
  /** Shows or hides all media. */
  reveal: () => void;
}

/** Beside the ticket: what becomes of it. */
function Side({ desk, held, form, macros, who, settings, reveal }: SideProps) {
  const t = texts.value.desk;
  const transfer = texts.value.items.actions.transfer.label;
  const [leaving, setLeaving] = useState<Leaving>(null);
  const { id, suggestion } = held.ticket;
  const fillIn = (draft: Draft) => desk.drafts.fillIn(id, draft);
  const draft = desk.drafts.of.value[id];
  const take = () => suggestion && fillIn(draftFrom(form, suggestion.decision, !settings.form, draft));
  const keys = [
    ...(suggestion ? [{ key: 'a', does: t.suggested.take, run: take }] : []),
    { key: 's', does: t.leave.skip, run: () => setLeaving('skip') },
    { key: 't', does: transfer, run: () => setLeaving('transfer') },
    { key: 'i', does: t.reveal, run: reveal },
    { key: 'o', does: t.enlargeFirst, run: () => document.querySelector<HTMLElement>('.body-enlarge')?.click() },
    { key: 'p', does: t.play, run: playFirst },
    { key: '/', does: t.find, run: focusOn('.desk-find') },
    { key: 'f', does: t.fields, run: focusOn('.desk-fields :is(input, textarea, select)') },
    { key: 'e', does: t.macros.title, run: focusOn('.desk-macros button') },
    { key: 'g', does: texts.value.queueSettings.guidelines[0], run: focusOn('.desk-guidelines summary') },
    { key: 'c', does: texts.value.items.body, run: focusOn('.desk-left') },
    { key: 'm', does: texts.value.common.notes.write, run: focusOn('.desk-notes:not([hidden]) textarea') },
    { key: 'u', does: t.pending.undo, run: () => desk.undo() },
    { key: 'n', does: t.pending.now, run: () => desk.sendNow() },
  ];
  return (
    <div class="desk-side">
      {held.problem && <ProblemNote problem={held.problem} />}
      <Decision
        held={held}
        form={form}
        isFree={!settings.form}
        draft={draft}
        fillIn={fillIn}
        decide={(decision) => desk.decide(decision)}
        keys={keys}
        above={
          <>
            {suggestion && <Suggested suggestion={suggestion} form={form} take={take} />}
            <Guidelines {...settings} />
            {/* one field is filled in by one key */}
            {form.fields.length > 1 && <Macros {...who} {...{ macros, form, draft, fillIn }} />}
          </>
        }
      >
        <Button does={t.leave.skip} run={() => setLeaving('skip')} look="quiet" shortcut="s" />
        <Button does={transfer} run={() => setLeaving('transfer')} look="quiet" shortcut="t" />
      </Decision>
      {leaving && <LeaveDialog desk={desk} leaving={leaving} close={() => setLeaving(null)} />}
    </div>
  );
}

function playFirst(): void {
  const media = document.querySelector<HTMLMediaElement>('.body-media :is(video, audio)');
  if (!media) return;
  media.focus();
  play(media, { paused: !media.paused });
}

/** Between two tickets, or before the first. */
function Between({ desk, who }: { desk: Desk; who: Who }) {
  const t = texts.value.desk.pending;
  useShortcuts([
    { key: 'u', does: t.undo, run: () => desk.undo() },
    { key: 'n', does: t.next, run: () => desk.sendNow() },
  ]);
  const { pending, sending } = desk.shelf.value;
  const reasons = desk.nothing.value;
  if (pending) return null;
  if (sending.length > 0) return <p class="muted">{t.sendingNow}</p>;
  return reasons ? <NothingYet reasons={reasons} who={who} /> : desk.problem.value ? null : <Loading />;
}

function Session({ desk }: { desk: Desk }) {
  const t = texts.value.desk.tally;
  const { states, events } = texts.value.items;
  const tally = desk.tally.value;
  const each = secondsEach(tally);
  const { yes, no } = texts.value.common;
  const facts: Fact[] = [
    [states.decided ?? '', number(tally.decided)],
    tally.synced > 0 && [events.synced ?? '', number(tally.synced)],
    [t.each, each === null ? '–' : number(each, 1)],
    [events.skipped ?? '', number(tally.skipped)],
    [events.transferred ?? '', number(tally.transferred)],
    [t.lost, number(tally.lost)],
    [t.ahead, desk.shelf.value.ready.length > 0 ? yes : no],
  ];
  return <Facts look="desk-facts row desk-tally" label={t.title} facts={facts} />;
}
