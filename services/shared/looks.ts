import { Problem } from './problems.ts';

/** Why a call gets no second look. */
const REFUSALS = {
  not_found: 'there is no such item',
  erased: 'it has been erased',
  not_final: 'it is not decided',
  window_closed: 'the decision is too old to appeal against it',
  already_open: 'a second look is open already',
  forbidden: 'nobody looks at their own decision',
} as const;

/** @throws Problem where a call has got no look */
export function checkAnswer(answer: string): void {
  if (answer in REFUSALS) throw new Problem(answer as keyof typeof REFUSALS, REFUSALS[answer as keyof typeof REFUSALS]);
}
