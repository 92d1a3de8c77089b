import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Body } from '../../components/body/body.tsx';
import { Field } from '../../components/field.tsx';
import { moment } from '../../components/format.ts';
import { type Shortcut, useShortcuts } from '../../components/keys.ts';
import { Button, Section, submitting } from '../../components/page.tsx';
import { KEYS } from '../../components/tones.ts';
import { Verdicts } from '../../components/verdicts.tsx';
import { LeaseTime } from '../../components/when.tsx';
import { texts } from '../../texts/texts.ts';
import type { Hold, JuryDesk } from './jury.ts';
import { sidesOf } from './sides.ts';

interface Props {
  desk: JuryDesk;
  hold: Hold;
  options: readonly string[];
}

const COMMENT = 2000;

/** A case with what each side says, and the juror's vote on it. */
export function CaseView({ desk, hold, options }: Props) {
  const t = texts.value.jury;
  const [revealed, setRevealed] = useState(false);
  const { case: found } = hold;
  const { sides, rest } = sidesOf(found.body, options);
  const reveal = { key: 'i', does: texts.value.desk.reveal, run: () => setRevealed(!revealed) };
  return (
    <div class="desk-work">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys */}
      <section class="desk-left" tabIndex={0} aria-label={texts.value.desk.reading}>
        <section class="panel jury-case" aria-labelledby="jury-case">
          <header class="panel-head">
            <h2 id="jury-case" tabIndex={-1}>
              {t.case(found.id)} {hold.invited && <Badge tone="info">{t.invited}</Badge>}
            </h2>
            {found.deadlineAt && <span class="muted">{t.deadline(moment(found.deadlineAt))}</span>}
            <LeaseTime expiresMs={hold.expiresMs} />
          </header>
          {hold.changed && (
            <p class="note warn" role="status">
              {t.changed}
            </p>
          )}
          {rest !== undefined && (
            <div class="desk-body panel-body">
              <Body value={rest} revealed={revealed} />
            </div>
          )}
          {sides.length > 0 && (
            <div class="jury-sides">
              {sides.map(({ name, value }) => (
                <section key={name} aria-label={t.side(name)}>
                  <h3>{t.side(name)}</h3>
                  <Body value={value} revealed={revealed} />
                </section>
              ))}
            </div>
          )}
        </section>
      </section>
      <Voting desk={desk} hold={hold} options={options} keys={[reveal]} />
    </div>
  );
}

function Voting({ desk, hold, options, keys }: Props & { keys: Shortcut[] }) {
  const t = texts.value.jury.voting;
  const { id } = hold.case;
  const { option, comment } = desk.opinionOf(id);
  const choose = (chosen: string) => {
    desk.think(id, { option: chosen });
    // Enter votes then; a vote is not taken back, so one key alone casts none
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.desk-bar button.primary')?.focus());
  };
  useShortcuts([
    ...options.slice(0, KEYS).map((one, n) => ({ key: String(n + 1), does: t.for(one), run: () => choose(one) })),
    ...keys,
  ]);
  const isBusy = desk.busy.value;
  const does = option === null ? t.title : t.for(option);
  const leaves = hold.invited ? texts.value.jury.invitations.decline : t.skip;
  return (
    <div class="desk-side">
      <Section title={t.title}>
        <form id="desk-form" class="desk-fields desk-form stack" onSubmit={submitting(() => desk.vote())}>
          <Field label={t.comment}>
            {(field) => (
              <textarea
                {...field}
                rows={2}
                maxLength={COMMENT}
                value={comment}
                onInput={(event) => desk.think(id, { comment: event.currentTarget.value })}
              />
            )}
          </Field>
        </form>
        <div class="desk-bar">
          <Verdicts
            label={t.choose}
            path="option"
            options={options.map((one) => [one, one] as const)}
            {...{ chosen: option, choose }}
          />
          <div class="actions">
            <Button does={does} look="primary" disabled={option === null || isBusy} form="desk-form" />
            <Button does={leaves} run={() => desk.leave()} look="quiet" disabled={isBusy} />
          </div>
          <p class="hint">{t.hint}</p>
        </div>
      </Section>
    </div>
  );
}
