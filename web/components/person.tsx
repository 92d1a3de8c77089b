import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Session, session } from '../api/session.ts';
import { texts } from '../texts/texts.ts';
import { askFirst } from '../unsaved.ts';
import { TextField } from './field.tsx';
import { Button, Page, Section, submitting } from './page.tsx';
import './person.css';

const STORED = 'docket.person';
const NAME = /^(?!\.{1,2}$|model:|nexus\/|erased-)[^\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u;

/** For whom an administrator works at the desks of this browser; empty: not chosen yet. */
const chosen = signal(localStorage.getItem(STORED) ?? '');

const isName = (text: string) => NAME.test(text);

/** @param name as the API allows names; empty: to be chosen again */
function choosePerson(name: string): void {
  chosen.value = name;
  if (name === '') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, name);
}

/** Whose desk it is: the subject of a key that has one, else who was chosen here; null: no one yet. */
export function personAt(who: Session | null | undefined): string | null {
  if (who?.subject) return who.subject;
  return isName(chosen.value) ? chosen.value : null;
}

/** Asks for whom someone works whose key speaks for no one in particular. */
export function ChoosePerson({ hint }: { hint: string }) {
  const t = texts.value.common.person;
  const [name, setName] = useState('');
  const [wrong, setWrong] = useState(false);
  const submit = () => {
    const typed = name.trim().normalize('NFC');
    if (isName(typed)) choosePerson(typed);
    else setWrong(true);
  };
  return (
    <Section title={t.title}>
      <form class="person-form stack inset" onSubmit={submitting(submit)}>
        <TextField
          label={texts.value.common.name}
          hint={hint}
          error={wrong ? t.wrong : undefined}
          value={name}
          set={setName}
        />
        <Button does={t.submit} look="primary" />
      </form>
    </Section>
  );
}

/** Whose desk it is, and a way to another's for those who may choose. */
export function PersonShown() {
  const t = texts.value.common.person;
  const person = personAt(session.value);
  if (person === null) return null;
  return (
    <span class="person">
      <span class="muted">{t.as}</span> <strong>{person}</strong>
      {!session.value?.subject && <Button does={t.change} run={() => askFirst(() => choosePerson(''))} look="quiet" />}
    </span>
  );
}

interface PageProps {
  title: string;
  /** What is done in the name that is asked for. */
  hint: string;
  children: (person: string) => ComponentChildren;
}

/** A page of whoever works here, which asks who that is where it is not known yet. */
export function PersonPage({ title, hint, children }: PageProps) {
  const person = personAt(session.value);
  return (
    <Page title={title} actions={<PersonShown />}>
      {person === null ? <ChoosePerson hint={hint} /> : children(person)}
    </Page>
  );
}
