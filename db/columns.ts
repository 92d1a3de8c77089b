import type { Callback, ReviewTarget } from '../contract/items.ts';
import type { CoreState, Kind } from '../contract/snapshot.ts';

/**
 * Types that the database does not know: of JSON, and of text with fixed words. The key is `table.column`, or
 * `statement.column` for what a statement computes; null is not said here. `statement.*` narrows a statement's whole
 * row, for what a function returns. One entry a line: `npm run statements` reads the keys.
 */
export interface Columns {
  'item.kind': Kind;
  'item.state': CoreState;
  'item.callback': Callback | ReviewTarget;
}
