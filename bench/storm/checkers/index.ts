import { looks, quotas } from './checked.ts';
import type { Checker } from './checker.ts';
import { callbacks, counts, feed, log, workflows } from './following.ts';
import { deadTokens, early, heldByTwo, internal, lost, stuck, unexpected } from './items.ts';
import { reviews, stock, votes } from './kinds.ts';

/** What must be 0 after every storm, as the table names it. */
export const CHECKERS: Record<string, Checker> = {
  'acknowledged and lost': lost,
  unexpected,
  'held by two': heldByTwo,
  'effects with a dead token': deadTokens,
  early,
  'votes miscounted': votes,
  'looks handed to who decided': looks,
  'quotas exceeded': quotas,
  'stock overdrawn': stock,
  'reviews beside the oracle': reviews,
  'feed: gaps, repeats, order': feed,
  'log: gaps, after the end': log,
  'callbacks missing or out of order': callbacks,
  'workflows missing or left over': workflows,
  'counts beside rows': counts,
  'not brought to an end': stuck,
  'answers 5xx but 503': internal,
};
