import { useAttempt } from '../api/attempt.ts';
import { api, data } from '../api/client.ts';
import type { LiveEvent } from '../api/live.ts';
import { useList } from '../api/resource.ts';
import { texts } from '../texts/texts.ts';
import { useUnsaved } from '../unsaved.ts';
import { Field } from './field.tsx';
import { Button, Loaded, ProblemNote, Section, submitting } from './page.tsx';
import { More } from './table.tsx';
import { When } from './when.tsx';

const MOST_CHARACTERS = 2_000;

interface Props {
  /** The ticket's. */
  id: string;
  /** Who writes; left out: whose the session is. */
  reviewer?: string;
  /** Which events mean a new one. */
  on?: (event: LiveEvent) => boolean;
  /** The note that is being written. */
  draft: Draft;
}

/** A note as far as it is written. */
export interface Draft {
  text: string;
  write: (text: string) => void;
}

/** Leaves a note on a ticket. @throws CallError */
export async function addNote(id: string, text: string, reviewer: string | undefined): Promise<void> {
  await data(api.POST('/v1/tickets/{id}/notes', { params: { path: { id } }, body: { text, reviewer } }));
}

/** What people have left on a ticket for those who see it next, and a field for one more. */
export function Notes({ id, reviewer, on, draft }: Props) {
  const t = texts.value.common.notes;
  const notes = useList('/v1/tickets/{id}/notes', { path: { id } }, on);
  const add = async (text: string) => {
    await addNote(id, text, reviewer);
    notes.refresh();
  };
  return (
    <Section title={t.title}>
      <div class="panel-body stack">
        <Loaded of={notes}>
          {(rows) =>
            rows.length > 0 && (
              <ol class="plain stack">
                {rows.map(({ seq, by, at, text }) => (
                  <li key={seq}>
                    <p class="muted">
                      <bdi>{by}</bdi> · <When at={at} />
                    </p>
                    <p class="verbatim" dir="auto">
                      {text}
                    </p>
                  </li>
                ))}
              </ol>
            )
          }
        </Loaded>
        <More more={notes.more} of={t.title} />
        <NewNote label={t.new} draft={draft} add={add} />
      </div>
    </Section>
  );
}

interface NewNoteProps {
  label: string;
  draft: Draft;
  add: (text: string) => Promise<void>;
  /** Gives it up, where that takes a button. */
  discard?: () => void;
}

/** A field for a note. What could not be added stays in it. */
export function NewNote({ label, draft: { text, write }, add, discard }: NewNoteProps) {
  const t = texts.value.common.notes;
  const { busy, problem, attempt } = useAttempt();
  useUnsaved(text.trim() !== '');
  const submit = () => {
    if (busy || text.trim() === '') return;
    return attempt(async () => {
      await add(text.trim());
      write('');
    });
  };
  return (
    <form class="stack" onSubmit={submitting(submit)}>
      <Field label={label} hint={t.hint}>
        {(bound) => (
          <textarea
            {...bound}
            rows={2}
            readOnly={busy}
            maxLength={MOST_CHARACTERS}
            value={text}
            onInput={(event) => write(event.currentTarget.value)}
          />
        )}
      </Field>
      {problem && <ProblemNote problem={problem} />}
      <div class="actions">
        <Button does={t.add} disabled={busy || text.trim() === ''} />
        {discard && <Button does={t.discard} run={discard} />}
      </div>
    </form>
  );
}
