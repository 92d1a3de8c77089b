import { useState } from 'preact/hooks';
import { session } from '../api/session.ts';
import { texts } from '../texts/texts.ts';
import { askFirst } from '../unsaved.ts';
import { TextField } from './field.tsx';
import { Section } from './page.tsx';
import { chooseName, choosePerson, personAt } from './person.ts';
import './person.css';

/** Asks for whom someone works whose key speaks for no one in particular. */
export function ChoosePerson({ hint }: { hint: string }) {
  const t = texts.value.common.person;
  const [name, setName] = useState('');
  const [wrong, setWrong] = useState(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!chooseName(name)) setWrong(true);
  };
  return (
    <Section title={t.title}>
      <form class="person-form" onSubmit={submit}>
        <TextField
          label={texts.value.common.name}
          hint={hint}
          error={wrong ? t.wrong : undefined}
          value={name}
          set={setName}
        />
        <button type="submit" class="primary">
          {t.submit}
        </button>
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
      {!session.value?.subject && (
        <button type="button" class="quiet" onClick={() => askFirst(() => choosePerson(''))}>
          {t.change}
        </button>
      )}
    </span>
  );
}
