import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { type Resource, useGet } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { useStream } from '../../api/stream.ts';
import { moment, number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { Button, Empty, Loaded, Loading, Page, ProblemNote, Section } from '../../components/page.tsx';
import { ChoosePerson, PersonShown, personAt } from '../../components/person.tsx';
import { texts } from '../../texts/texts.ts';
import { callsOf } from './calls.ts';
import { CaseView } from './case.tsx';
import { JuryDesk } from './jury.ts';
import '../desk/desk.css';
import './jury.css';

const LIMITS_MS = 30_000;
const SETTINGS_MS = 10_000;

/** A juror's desk at one court. */
export function JuryPage() {
  const t = texts.value.jury;
  const court = useRoute().params.court ?? '';
  const juror = personAt(session.value);
  const settings = useGet('/v1/courts/{court}', { path: { court } }, { everyMs: SETTINGS_MS });
  if (juror === null || !settings.data)
    return (
      <Page title={t.title(court)}>
        {juror === null ? <ChoosePerson hint={t.whoHint} /> : <Loaded of={settings}>{() => null}</Loaded>}
      </Page>
    );
  return <Bench key={`${court} ${juror}`} court={settings.data} refresh={settings.refresh} juror={juror} />;
}

function Bench({ court, refresh, juror }: { court: Schemas['Court']; refresh: () => void; juror: string }) {
  const t = texts.value.jury;
  const { name } = court;
  const desk = useMemo(() => new JuryDesk(callsOf(name, juror), (court.leaseSeconds ?? 600) * 1000), []);
  useEffect(() => desk.open(), []);
  const path = { court: name, juror };
  const limits = useGet('/v1/courts/{court}/jurors/{juror}', { path }, { everyMs: LIMITS_MS });
  useStream({ juror }, { onEvent: (event) => desk.noticed(event), onOpen: () => desk.lookAgain() });
  const [hold, ended] = [desk.hold.value, desk.ended.value];
  // an option that is refused is none by now
  useEffect(() => void (desk.problem.value && refresh()), [desk.problem.value]);
  // a case that is shown uses the window up, and a vote the day
  useEffect(limits.refresh, [hold?.token]);
  // as soon as it is shown: later it would take the focus from what a quick juror has chosen
  useLayoutEffect(() => {
    if (document.querySelector('dialog[open]')) return;
    const to =
      document.querySelector<HTMLElement>('.jury-case h2') ?? document.querySelector<HTMLElement>('.jury-ended button');
    to?.focus();
  }, [hold?.token, ended?.case.id]);
  return (
    <Page title={t.title(name)} actions={<PersonShown />}>
      <Limits limits={limits} />
      <LastVote desk={desk} />
      {desk.problem.value && <ProblemNote problem={desk.problem.value} retry={() => void desk.claim()} />}
      {ended && <EndedNote desk={desk} />}
      {hold && <CaseView key={hold.token} desk={desk} hold={hold} options={court.options ?? []} />}
      {!hold && !ended && <Nothing desk={desk} />}
    </Page>
  );
}

/** What is left of the window and of the day. */
function Limits({ limits: { data: found } }: { limits: Resource<Schemas['CourtJuror']> }) {
  const t = texts.value.jury.limits;
  if (!found || (!found.window && !found.day)) return null;
  const { window, day } = found;
  return (
    <Section title={t.title}>
      <ul class="row inset plain">
        {window && (
          <li>
            {t.window(number(window.left), number(window.cases))}{' '}
            {window.left === 0 && window.freesAt && <span class="muted">{t.frees(moment(window.freesAt))}</span>}
          </li>
        )}
        {day && (
          <li>
            {t.day(number(day.left), number(day.limit))}{' '}
            {day.left === 0 && <span class="muted">{t.dayEnds(moment(day.endsAt))}</span>}
          </li>
        )}
      </ul>
    </Section>
  );
}

function LastVote({ desk }: { desk: JuryDesk }) {
  const t = texts.value.jury.voted;
  const last = desk.voted.value;
  return (
    <div aria-live="polite">
      {last && (
        <p class={`note ${last.counted ? '' : 'warn'}`}>
          {!last.counted
            ? t.late(last.case.id)
            : last.case.state === 'decided'
              ? t.decides(last.case.id)
              : t.counted(last.case.id)}
        </p>
      )}
    </div>
  );
}

/** Why the case is gone that stood here, and what the juror had written. */
function EndedNote({ desk }: { desk: JuryDesk }) {
  const t = texts.value.jury.ended;
  const ended = desk.ended.value;
  useShortcuts([{ key: 'n', does: t.next, run: () => desk.goOn() }]);
  if (!ended) return null;
  const { comment } = desk.opinionOf(ended.case.id);
  return (
    <Section title={t.titles[ended.cause] ?? t.title}>
      <div class="jury-ended stack inset">
        <p role="alert">
          <strong>{ended.case.id}</strong>: {t.causes[ended.cause] ?? t.other(ended.cause)}
        </p>
        {comment !== '' && (
          <>
            <h3>{t.comment}</h3>
            <p class="verbatim">{comment}</p>
          </>
        )}
        <Button does={t.next} run={() => desk.goOn()} look="primary" shortcut="n" />
      </div>
    </Section>
  );
}

function Nothing({ desk }: { desk: JuryDesk }) {
  const t = texts.value.jury.empty;
  const reasons = desk.reasons.value;
  if (!reasons) return desk.problem.value ? null : <Loading />;
  const names = Object.keys(t.reasons) as (keyof typeof t.reasons)[];
  const found = names.filter((name) => reasons[name] > 0);
  return (
    <Section title={t.title}>
      <Empty>
        <p role="status">{t.waiting}</p>
        <ul>
          {found.map((name) => (
            <li key={name}>{t.reasons[name](number(reasons[name]))}</li>
          ))}
        </ul>
      </Empty>
    </Section>
  );
}
