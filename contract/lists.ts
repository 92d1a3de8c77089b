import { z } from '@hono/zod-openapi';
import { PageByTime, Time } from './common.ts';
import { AnyName, chosenName, Subject } from './names.ts';
import { Category } from './reviewers.ts';
import { Automation } from './suggestions.ts';
import { TicketState } from './tickets.ts';

export const ticketFilter = {
  queue: AnyName.optional(),
  state: TicketState.optional(),
  reviewer: AnyName.optional().describe('Who holds or decided them'),
  subject: Subject.optional(),
  category: Category.optional(),
  createdAfter: Time.optional(),
  createdBefore: Time.optional(),
  decidedBy: AnyName.optional().describe('A person, or `model:` and a model'),
  decidedAfter: Time.optional(),
  decidedBefore: Time.optional(),
  verdict: chosenName(200)
    .optional()
    .describe('Of the decision: its member `verdict`, or the decision if it is no object, as text'),
  automation: Automation.optional(),
  text: chosenName(200).optional().describe('Words of the body, as a search engine takes them: `"buy now" -shop`'),
  overturned: z.enum(['true', 'false']).optional().describe('Whether another decision than its own counts'),
  order: z.enum(['newest', 'oldest']).optional().describe('By when they were created; left out: the newest first'),
};
/** The filters of a list, all of which must fit, and its order. */
export const TicketFilter = z.object(ticketFilter);
export type SavedFilter = z.infer<typeof TicketFilter>;
export const TicketPage = PageByTime.extend(ticketFilter);
