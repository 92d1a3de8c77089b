import { useState } from 'preact/hooks';
import { useAttempt } from '../../api/attempt.ts';
import { get, type Schemas } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { TextField } from '../../components/field.tsx';
import { number } from '../../components/format.ts';
import { Button, type Fact, Facts, Loaded, ProblemNote, Section, submitting } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { fewOf } from './case.tsx';
import { anybodyFor, explain, MOST_AHEAD, type Offer, reasonIn, reasonsNobody } from './offers.ts';

type Ticket = Schemas['Ticket'];

/** Whether others go before it changes with every ticket, and takes a look at the queue. */
const GAP_MS = 3_000;
const QUIET_MS = 30_000;

/** Why no one has got an open ticket, and whether it would be offered to someone in particular. */
export function Explain({ ticket }: { ticket: Ticket }) {
  const t = texts.value.items.explain;
  const general = useResource(
    async (signal) => {
      const [offer, queue] = await Promise.all([
        explain(ticket, anybodyFor(ticket), ticket.requires, signal),
        get('/v1/queues/{queue}/stats', { path: { queue: ticket.queue } }, signal),
      ]);
      return { offer, queue };
    },
    [ticket.id, ticket.version],
    { on: ({ kind }) => kind === 'ticket', everyMs: QUIET_MS, gapMs: GAP_MS, about: ticket.id },
  );
  return (
    <Section title={ticket.state === 'held' ? t.whyHeld : t.whyNobody}>
      <div class="panel-body stack">
        <Loaded of={general}>
          {({ offer, queue }) => (
            <ul class="reasons">
              {reasonsNobody(ticket, offer, queue, t).map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          )}
        </Loaded>
        {mayAct('supervisor') && <Who ticket={ticket} />}
        <ForPerson ticket={ticket} />
      </div>
    </Section>
  );
}

/** Who of the register could take it now, and why the others could not. */
function Who({ ticket: { id, version } }: { ticket: Ticket }) {
  const t = texts.value.items.explain;
  const found = useResource((signal) => get('/v1/explain/who', { query: { ticket: id } }, signal), [id, version]);
  return (
    <Loaded of={found}>
      {({ could, others }) => {
        const why = [...new Set(others.map(({ reason }) => reason))];
        const whose = (of: string) => others.filter(({ reason }) => reason === of).map(({ reviewer }) => reviewer);
        const rest = why.map((reason): Fact => [reasonIn(reason), fewOf(whose(reason))]);
        return (
          <Facts look="facts" facts={[[t.could, could.length > 0 ? fewOf(could) : texts.value.common.none], ...rest]} />
        );
      }}
    </Loaded>
  );
}

function ForPerson({ ticket }: { ticket: Ticket }) {
  const t = texts.value.items.explain;
  const [person, setPerson] = useState('');
  const [skills, setSkills] = useState('');
  const [answer, setAnswer] = useState<{ of: string; offer: Offer } | null>(null);
  const { busy, problem, attempt } = useAttempt();
  const ask = () => {
    const of = person.trim();
    const known = skills.split(',').map((s) => s.trim());
    setAnswer(null);
    return attempt(async () => setAnswer({ of, offer: await explain(ticket, of, known.filter(Boolean)) }));
  };
  return (
    <form class="ask" onSubmit={submitting(ask)}>
      <TextField label={t.person} value={person} set={setPerson} />
      <TextField label={t.skills} hint={t.skillsHint} value={skills} set={setSkills} />
      <Button does={t.ask} disabled={busy} />
      {problem && <ProblemNote problem={problem} />}
      <output aria-live="polite">{answer && <Answer {...answer} />}</output>
    </form>
  );
}

function Answer({ of, offer: { offered, why, ahead } }: { of: string; offer: Offer }) {
  const t = texts.value.items.explain;
  if (offered) return <p>{ahead === 0 ? t.offeredNext(of) : t.offered(of, number(ahead), ahead >= MOST_AHEAD)}</p>;
  return (
    <>
      <p>{t.notOffered(of)}</p>
      <ul>
        {why.map((code) => (
          <li key={code}>{reasonIn(code)}</li>
        ))}
      </ul>
    </>
  );
}
