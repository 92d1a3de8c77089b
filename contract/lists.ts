import { z } from '@hono/zod-openapi';
import { PageByTime, request, Time, texts } from './common.ts';
import { AnyName, chosenName, Subject } from './names.ts';
import { Category } from './reviewers.ts';
import { Automation } from './suggestions.ts';
import { TicketState } from './tickets.ts';

const ticketFilter = {
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
};
/** The filters of a list, all of which must fit. */
export const TicketFilter = z.object(ticketFilter);
export type SavedFilter = z.infer<typeof TicketFilter>;
export const TicketPage = PageByTime.extend(ticketFilter);

export const ViewParam = z.object({ name: AnyName });
export const ViewOwner = z.object({ by: AnyName.optional().describe('Who saved it; left out: the caller') });
export const PutView = request('PutView', {
  filter: z.strictObject(ticketFilter),
  shared: z.boolean().default(false).describe('Everybody reads it'),
});
export const SavedView = z
  .object({
    ...texts('name', 'by'),
    shared: z.boolean(),
    filter: TicketFilter,
    updatedAt: z.string(),
  })
  .openapi('SavedView', { description: 'A filter of the list of tickets that somebody has saved' });
