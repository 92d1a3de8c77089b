import { z } from '@hono/zod-openapi';
import { Json, request, texts } from './common.ts';
import { TicketFilter, ticketFilter } from './lists.ts';
import { AnyName, chosenName, QueueParam } from './names.ts';

export const SavedParam = z.object({ name: AnyName });
export const MacroParam = QueueParam.extend({ name: AnyName });
export const SavedBy = z.object({ by: AnyName.optional().describe('Who saved it; left out: the caller') });

const shared = z.boolean().default(false).describe('Everybody reads it');
const saved = { ...texts('name', 'by'), shared: z.boolean(), updatedAt: z.string() };

export const PutView = request('PutView', { filter: z.strictObject(ticketFilter), shared });
export const SavedView = z
  .object({ ...saved, filter: TicketFilter })
  .openapi('SavedView', { description: 'A filter of the list of tickets that somebody has saved' });

export const PutMacro = request('PutMacro', { decision: Json, shared });
export const Macro = z
  .object({ ...saved, decision: Json })
  .openapi('Macro', { description: 'An answer, or a part of one, with which the form of a queue can be filled' });

const MOST_DEFAULTS = 50;
/** Names are those of the console, or of whatever program shows tickets to this person. */
export const Defaults = z
  .strictObject({
    defaults: z
      .record(chosenName(100), z.union([z.string().max(200), z.number(), z.boolean()]))
      .refine((all) => Object.keys(all).length <= MOST_DEFAULTS, `takes ${MOST_DEFAULTS} at most`),
  })
  .openapi('Defaults', { description: 'How the caller wants things shown' });
