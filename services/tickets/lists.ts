import { type ItemFilter, listTickets, type Walked } from '../../db/items.ts';
import { type Context, invalid } from '../shared/service.ts';

/** Bodies whose words are kept in one step. */
const STEP = 1_000;

/** A page of tickets, newest first; see `listTickets`. @throws Problem 422 for a text while the words of bodies are not kept */
export async function list({ db }: Context, filter: ItemFilter, walked: Walked, limit: number) {
  if (walked.text !== undefined) {
    const [fullText] = await db.lists.run('full_text');
    if (!fullText?.ready)
      throw invalid('text', fullText ? 'the words of bodies are still being read' : 'needs DOCKET_FULL_TEXT=on');
  }
  return listTickets(db.lists, filter, walked, limit);
}

/** Keeps the words of bodies, or forgets them, by the setting. A maintenance chore. */
export async function tendWords({ db, config }: Context): Promise<void> {
  while ((await db.run('tend_words', { on: config.fullText, limit: STEP }))[0]?.more);
}
