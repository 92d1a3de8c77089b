import { useState } from 'preact/hooks';
import { useAttempt } from '../api/attempt.ts';
import { api, data } from '../api/client.ts';
import type { LiveEvent } from '../api/live.ts';
import { usePages } from '../api/pages.ts';
import { texts } from '../texts/texts.ts';
import { Loaded, ProblemNote } from './feedback.tsx';
import { Field } from './field.tsx';
import { More } from './more.tsx';
import './notes.css';
import { Section } from './page.tsx';
import { When } from './when.tsx';

const MOST_CHARACTERS = 2_000;

interface Props {
  /** The ticket's. */
  id: string;
  /** Who writes; left out: whose the session is. */
  reviewer?: string;
  /** Which events mean a new one. */
  on?: (event: LiveEvent) => boolean;
}

/** What people have left on a ticket for those who see it next, and a field for one more. */
export function Notes({ id, reviewer, on }: Props) {
  const t = texts.value.common.notes;
  const path = { id };
  const notes = usePages(
    (cursor, signal) =>
      data(api.GET('/v1/tickets/{id}/notes', { params: { path, query: cursor ? { cursor } : {} }, signal })),
    [id],
    on,
  );
  const add = async (text: string) => {
    const body = { text, ...(reviewer !== undefined && { reviewer }) };
    await data(api.POST('/v1/tickets/{id}/notes', { params: { path }, body }));
    notes.refresh();
  };
  return (
    <Section title={t.title}>
      <div class="notes">
        <Loaded of={notes}>
          {(rows) =>
            rows.length > 0 && (
              <ol>
                {rows.map(({ seq, by, at, text }) => (
                  <li key={seq}>
                    <p class="muted">
                      <bdi>{by}</bdi> · <When at={at} />
                    </p>
                    <p class="notes-text" dir="auto">
                      {text}
                    </p>
                  </li>
                ))}
              </ol>
            )
          }
        </Loaded>
        <More more={notes.more} of={t.title} />
        <NewNote add={add} />
      </div>
    </Section>
  );
}

function NewNote({ add }: { add: (text: string) => Promise<void> }) {
  const t = texts.value.common.notes;
  const [text, setText] = useState('');
  const { busy, problem, attempt } = useAttempt();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void attempt(async () => {
      await add(text.trim());
      setText('');
    });
  };
  return (
    <form onSubmit={submit}>
      <Field label={t.new} hint={t.hint}>
        {(bound) => (
          <textarea
            {...bound}
            rows={2}
            maxLength={MOST_CHARACTERS}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      {problem && <ProblemNote problem={problem} />}
      <button type="submit" disabled={busy || text.trim() === ''}>
        {t.add}
      </button>
    </form>
  );
}
