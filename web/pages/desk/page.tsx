import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { api, data, type Schemas } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { useStream } from '../../api/stream.ts';
import { Loaded, Loading, ProblemNote } from '../../components/feedback.tsx';
import { number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { Page, Section } from '../../components/page.tsx';
import { personAt } from '../../components/person.ts';
import { ChoosePerson, PersonShown } from '../../components/person.tsx';
import { texts } from '../../texts/texts.ts';
import { askFirst } from '../../unsaved.ts';
import { callsOf } from './calls.ts';
import { Decision } from './decision.tsx';
import { Desk } from './desk.ts';
import './desk.css';
import { LeaveDialog, type Leaving } from './leave.tsx';
import { DeskNotes } from './notes.tsx';
import { NothingYet } from './nothing.tsx';
import type { Held } from './shelf.ts';
import { skills } from './skills.ts';
import { LateNotes, LostNote, PendingNote } from './states.tsx';
import { secondsEach } from './tally.ts';
import { TicketView } from './ticket.tsx';

const SETTINGS_MS = 30_000;

/** A reviewer's desk at one queue. */
export function DeskPage() {
  const t = texts.value.desk;
  const queue = useRoute().params.queue ?? '';
  const reviewer = personAt(session.value);
  const settings = useResource(
    (signal) => data(api.GET('/v1/queues/{queue}', { params: { path: { queue } }, signal })),
    [queue],
    { everyMs: SETTINGS_MS },
  );
  if (reviewer === null)
    return (
      <Page title={t.title(queue)}>
        <ChoosePerson hint={t.whoHint} />
      </Page>
    );
  if (!settings.data)
    return (
      <Page title={t.title(queue)}>
        <Loaded of={settings}>{() => null}</Loaded>
      </Page>
    );
  const who = { queue, reviewer, skills: [...skills.value] };
  return <Work key={`${queue} ${reviewer}`} settings={settings.data} who={who} />;
}

interface Who {
  queue: string;
  reviewer: string;
  skills: string[];
}

function Work({ settings, who }: { settings: Schemas['Queue']; who: Who }) {
  const t = texts.value.desk;
  const desk = useMemo(() => new Desk(callsOf(who)), []);
  desk.maxHeld = settings.maxHeld ?? 1;
  const { route } = useLocation();
  useEffect(() => desk.open(), []);
  useStream({ reviewer: who.reviewer }, { onEvent: (event) => desk.noticed(event), onOpen: () => desk.lookAgain() });
  const shelf = desk.shelf.value;
  const { current, pending, lost } = shelf;
  useFocus(current?.ticket.id, lost?.ticket.id, current ? undefined : pending?.held.ticket.id);
  const stop = async () => {
    await desk.stop();
    route('/desk');
  };
  const actions = (
    <>
      <PersonShown />
      <button type="button" title={t.stopHint} onClick={() => askFirst(() => void stop())}>
        {t.stop}
      </button>
    </>
  );
  return (
    <Page title={t.title(who.queue)} actions={actions}>
      {settings.paused && <p class="note warn">{t.paused}</p>}
      <LateNotes late={shelf.late} dismiss={() => desk.dismissLate()} />
      {desk.problem.value && <ProblemNote problem={desk.problem.value} retry={() => void desk.fill()} />}
      {lost && <LostView desk={desk} />}
      {current && <AtTicket key={current.ticket.id} desk={desk} held={current} settings={settings} />}
      <DeskNotes shelf={shelf} reviewer={who.reviewer} />
      {!current && !lost && <Between desk={desk} who={who} />}
      {pending && <PendingNote pending={pending} desk={desk} isAll={!current && !lost} />}
      <Session desk={desk} />
    </Page>
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

const writeNote = () => document.querySelector<HTMLElement>('.desk-notes:not([hidden]) textarea')?.focus();

function LostView({ desk }: { desk: Desk }) {
  const { lost } = desk.shelf.value;
  useShortcuts([{ key: 'n', does: texts.value.desk.lost.next, run: () => desk.goOn() }]);
  if (!lost) return null;
  return <LostNote lost={lost} draft={desk.drafts.of.value[lost.ticket.id]} goOn={() => desk.goOn()} />;
}

function AtTicket({ desk, held, settings }: { desk: Desk; held: Held; settings: Schemas['Queue'] }) {
  const t = texts.value.desk;
  const [revealed, setRevealed] = useState(false);
  const [leaving, setLeaving] = useState<Leaving>(null);
  const { id } = held.ticket;
  const keys = [
    { key: 's', does: t.leave.skip, run: () => setLeaving('skip') },
    { key: 't', does: t.leave.transfer, run: () => setLeaving('transfer') },
    { key: 'i', does: t.reveal, run: () => setRevealed(!revealed) },
    { key: 'm', does: texts.value.common.notes.write, run: writeNote },
    { key: 'u', does: t.pending.undo, run: () => desk.undo() },
    { key: 'n', does: t.pending.now, run: () => desk.sendNow() },
  ];
  return (
    <div class="desk-work">
      <TicketView held={held} settings={settings} revealed={revealed} />
      <div class="desk-side">
        {held.problem && <ProblemNote problem={held.problem} />}
        <Decision
          held={held}
          schema={settings.form ?? null}
          draft={desk.drafts.of.value[id]}
          fillIn={(draft) => desk.drafts.fillIn(id, draft)}
          decide={(decision) => desk.decide(decision)}
          keys={keys}
        />
        <div class="actions">
          <button type="button" aria-keyshortcuts="s" onClick={() => setLeaving('skip')}>
            {t.leave.skip} <kbd>s</kbd>
          </button>
          <button type="button" aria-keyshortcuts="t" onClick={() => setLeaving('transfer')}>
            {t.leave.transfer} <kbd>t</kbd>
          </button>
        </div>
      </div>
      <LeaveDialog desk={desk} leaving={leaving} close={() => setLeaving(null)} />
    </div>
  );
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
  const tally = desk.tally.value;
  const each = secondsEach(tally);
  const { yes, no } = texts.value.common;
  const figures: [string, string][] = [
    [t.decided, number(tally.decided)],
    [t.each, each === null ? '–' : number(each, 1)],
    [t.skipped, number(tally.skipped)],
    [t.transferred, number(tally.transferred)],
    [t.lost, number(tally.lost)],
    [t.ahead, desk.shelf.value.ready.length > 0 ? yes : no],
  ];
  return (
    <Section title={t.title}>
      <dl class="desk-facts desk-tally">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
