import { signal } from '@preact/signals';
import type { Session } from '../api/session.ts';

const STORED = 'docket.person';
const NAME = /^(?!\.{1,2}$|model:|nexus\/|erased-)[^\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u;

/** For whom an administrator works at the desks of this browser; empty: not chosen yet. */
const chosen = signal(localStorage.getItem(STORED) ?? '');

const isName = (text: string) => NAME.test(text);

/** @returns whether it is a name, and is chosen */
export function chooseName(text: string): boolean {
  const name = text.trim().normalize('NFC');
  if (isName(name)) choosePerson(name);
  return isName(name);
}

/** @param name as the API allows names; empty: to be chosen again */
export function choosePerson(name: string): void {
  chosen.value = name;
  if (name === '') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, name);
}

/** Whose desk it is: the subject of a key that has one, else who was chosen here; null: no one yet. */
export function personAt(who: Session | null | undefined): string | null {
  if (who?.subject) return who.subject;
  return isName(chosen.value) ? chosen.value : null;
}
