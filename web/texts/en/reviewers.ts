import { said } from '../said.ts';

/** The register of reviewers. */
export const reviewers = {
  lead: 'Limits and absences hold for these people in every queue; skills where a queue is for registered reviewers only.',
  none: 'Nobody is registered.',
  create: 'Register a reviewer',
  deleteHint: 'Limits and absences no longer hold; queues for registered reviewers no longer serve them.',
  name: said('Name', 'As they claim and decide.'),
  displayName: said('Shown as', ''),
  person: said('Person', 'Names of the same person share limits and exclusions. Empty: the name itself.'),
  skills: said('Skills', ''),
  perDay: said('Tickets a day', 'Empty: no limit.'),
  exposure: said('Limits by category', 'Tickets of a category a day; 0: none.'),
  row: (n: number) => `Category ${n}`,
  add: 'Add a category',
  category: said('Category', 'As tickets name it, such as violence.'),
  awayUntil: said('Away until', 'Nothing new until then.'),
  timezone: said('Time zone', 'Of the days.'),
};

/** A reviewer's own decisions. */
export const mine = {
  today: 'Today',
  none: 'You have not decided anything yet.',
  dispute: 'Dispute',
  reason: said('Reason', 'What is wrong with the ticket, or with what was made of your decision.'),
  disputed: 'Noted in the history of the ticket.',
};
