import { signal } from '@preact/signals';
import { isName } from '../../components/person.ts';

const STORED = 'docket.skills';

const read = (text: string) =>
  text
    .split(/[,，\s]+/)
    .map((skill) => skill.trim())
    .filter((skill) => skill !== '');

/** What the reviewer of this browser says they can judge. */
export const skills = signal<readonly string[]>(read(localStorage.getItem(STORED) ?? '').filter(isName));

/** @returns whether all of them are skills; else nothing is changed */
export function setSkills(text: string): boolean {
  const given = [...new Set(read(text))];
  if (!given.every(isName)) return false;
  skills.value = given;
  localStorage.setItem(STORED, given.join(','));
  return true;
}
