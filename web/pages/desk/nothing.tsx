import { useState } from 'preact/hooks';
import { useAttempt } from '../../api/attempt.ts';
import type { Schemas } from '../../api/client.ts';
import { TextField } from '../../components/field.tsx';
import { number } from '../../components/format.ts';
import { Button, ProblemNote, Section, submitting } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { explain, MOST_AHEAD, reasonIn } from '../item/offers.ts';
import type { Who } from './calls.ts';

/** What keeps a reviewer from whatever comes. */
const STOPPED = ['notRegistered', 'away', 'quota'] as const;

/** Why the desk is empty, and whether it waits. */
export function NothingYet({ reasons, who }: { reasons: Schemas['Reasons']; who: Who }) {
  const t = texts.value.desk.empty;
  const names = Object.keys(t.reasons) as (keyof typeof t.reasons)[];
  const found = names.filter((name) => reasons[name] > 0);
  return (
    <Section title={t.title}>
      <div class="desk-nothing stack inset">
        {STOPPED.every((name) => reasons[name] === 0) && <p role="status">{t.waiting}</p>}
        <ul>
          {found.length === 0 && <li>{t.queueEmpty}</li>}
          {found.map((name) => (
            <li key={name}>{t.reasons[name](counted(reasons[name]))}</li>
          ))}
        </ul>
        <Explain who={who} />
      </div>
    </Section>
  );
}

function counted(n: number): string {
  return n < MOST_AHEAD ? number(n) : texts.value.desk.empty.orMore(number(n));
}

/** Whether a certain ticket is offered to this reviewer. */
function Explain({ who: { queue, reviewer, skills } }: { who: Who }) {
  const t = texts.value.desk.empty;
  const [id, setId] = useState('');
  const [answer, setAnswer] = useState<string[]>([]);
  const { busy, problem, attempt } = useAttempt();
  const ask = () => {
    setAnswer([]);
    return attempt(async () => {
      const { offered, ahead, why } = await explain({ id: id.trim(), queue }, reviewer, skills);
      setAnswer(offered ? [t.offered(number(ahead), ahead >= MOST_AHEAD)] : why.map(reasonIn));
    });
  };
  return (
    <details>
      <summary>{t.explain}</summary>
      <form class="ask" onSubmit={submitting(ask)}>
        <TextField label={texts.value.items.kinds.ticket} required value={id} set={setId} />
        <Button does={texts.value.items.explain.ask} disabled={busy} />
      </form>
      <div aria-live="polite">
        {answer.map((line) => (
          <p key={line}>{line}</p>
        ))}
        {problem && <ProblemNote problem={problem} />}
      </div>
    </details>
  );
}
