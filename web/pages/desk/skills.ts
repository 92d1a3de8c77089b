import { signal } from '@preact/signals';

const STORED = 'docket.skills';

const SKILL = /^[A-Za-z0-9._:~@-]{1,200}$/;
const isSkill = (text: string) => SKILL.test(text);

const read = (text: string) =>
  text
    .split(/[,，\s]+/)
    .map((skill) => skill.trim())
    .filter((skill) => skill !== '');

/** What the reviewer of this browser says they can judge. */
export const skills = signal<readonly string[]>(read(localStorage.getItem(STORED) ?? '').filter(isSkill));

/** @returns whether all of them are skills; else nothing is changed */
export function setSkills(text: string): boolean {
  const given = [...new Set(read(text))];
  if (!given.every(isSkill)) return false;
  skills.value = given;
  localStorage.setItem(STORED, given.join(','));
  return true;
}
