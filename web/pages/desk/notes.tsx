import { useState } from 'preact/hooks';
import { addNote, type Draft, NewNote, Notes } from '../../components/notes.tsx';
import { Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import type { Shelf } from './shelf.ts';

/** Notes on what the reviewer has before them or has lost, and those on other tickets that they have begun to write. */
export function DeskNotes({ shelf: { current, lost, ready }, reviewer }: { shelf: Shelf; reviewer: string }) {
  const [drafts, setDrafts] = useState<Readonly<Record<string, string>>>({});
  const draftOf = (id: string): Draft => ({
    text: drafts[id] ?? '',
    write: (text) => setDrafts((others) => ({ ...others, [id]: text })),
  });
  const shown = current?.ticket.id ?? lost?.ticket.id;
  // those of a ticket that was claimed ahead are there with it
  const loaded = new Set([...(shown === undefined ? [] : [shown]), ...ready.map(({ ticket }) => ticket.id)]);
  const unfinished = Object.keys(drafts).filter((id) => !loaded.has(id) && drafts[id]?.trim());
  const t = texts.value.common.notes;
  return (
    <>
      {[...loaded].map((id) => (
        <div key={id} class="desk-notes" hidden={id !== shown}>
          <Notes id={id} reviewer={reviewer} draft={draftOf(id)} />
        </div>
      ))}
      {unfinished.length > 0 && (
        <Section title={t.unfinished}>
          <div class="panel-body stack">
            {unfinished.map((id) => (
              <NewNote
                key={id}
                label={t.newOn(id)}
                draft={draftOf(id)}
                add={(text) => addNote(id, text, reviewer)}
                discard={() => draftOf(id).write('')}
              />
            ))}
          </div>
        </Section>
      )}
    </>
  );
}
