import type { Schemas } from '../../api/client.ts';
import { type Draft, filled } from '../../components/form/draft.ts';
import { Button, Facts, Section } from '../../components/page.tsx';
import { useNow } from '../../components/when.tsx';
import { texts } from '../../texts/texts.ts';
import type { Desk } from './desk.ts';
import { type DecisionForm, wordsOf } from './schema.ts';
import { decidesOthers, type Lost, type Pending } from './shelf.ts';

const TICK_MS = 250;
const localNow = () => performance.now();

/** A decision that can still be undone, in one slim line. `isAll`: the next ticket comes only when it is sent. */
export function PendingNote({ pending, desk, form, settings, isAll }: PendingProps) {
  const t = texts.value.desk.pending;
  const leftMs = pending.sendAt - useNow(TICK_MS, localNow);
  return (
    <section class="desk-pending" aria-label={t.title} title={t.hint}>
      <p>
        <span class="visually-hidden">{t.title}</span>
        <strong>{wordsOf(form, pending.decision)}</strong> <bdi class="muted">{pending.held.ticket.id}</bdi>
        {decidesOthers(pending.held.ticket, settings) && ` ${t.andOthers}`}
      </p>
      <span role="timer" class="muted">
        {t.sending(Math.max(0, Math.ceil(leftMs / 1000)))}
      </span>
      <Button does={t.undo} run={() => desk.undo()} shortcut="u" />
      <Button does={isAll ? t.next : t.now} run={() => desk.sendNow()} look={isAll ? 'primary' : ''} shortcut="n" />
    </section>
  );
}

interface PendingProps {
  pending: Pending;
  desk: Desk;
  form: DecisionForm;
  settings: Schemas['Queue'];
  isAll: boolean;
}

function causeInWords({ cause: { reason, by } }: Lost): string {
  const t = texts.value.desk.lost;
  return `${t.causes[reason] ?? t.other(reason)} ${by && by !== 'system' ? t.by(by) : ''}`.trim();
}

/** What became of a ticket that stood here, with all that had been filled in. */
export function LostNote({ lost, draft, goOn }: { lost: Lost; draft: Draft | undefined; goOn: () => void }) {
  const { desk, items } = texts.value;
  const t = desk.lost;
  const lines = draft ? filled(draft) : [];
  return (
    <Section title={t.title}>
      <div class="desk-lost stack inset">
        <div class="note warn" role="alert">
          <p>
            <strong>{lost.ticket.id}</strong>
          </p>
          <p>{causeInWords(lost)}</p>
        </div>
        {lines.length > 0 ? (
          <>
            <h3>{t.draft}</h3>
            <Facts
              look="desk-facts row verbatim"
              facts={lines.map(([path, value]) => [path || items.decision, value])}
            />
            <p class="hint">{t.draftHint}</p>
          </>
        ) : (
          <p class="muted">{t.noDraft}</p>
        )}
        <Button does={t.next} run={goOn} look="primary" shortcut="n" />
      </div>
    </Section>
  );
}

/** Decisions that were not taken, while the reviewer is at another ticket. */
export function LateNotes({ late, form, dismiss }: { late: readonly Lost[]; form: DecisionForm; dismiss: () => void }) {
  const t = texts.value.desk.lost;
  if (late.length === 0) return null;
  return (
    <div class="note warn" role="alert">
      {late.map((one) => (
        <p key={one.ticket.id}>
          <strong>{t.late(one.ticket.id)}</strong> {causeInWords(one)} {wordsOf(form, one.decision)}
        </p>
      ))}
      <Button does={t.dismiss} run={dismiss} />
    </div>
  );
}
