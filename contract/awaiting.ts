// Types only: workflow code imports this file.

/** What a workflow waits for: the end of an item, or of one run of a job (B.1). */
export interface Awaited {
  kind: 'ticket' | 'case' | 'job';
  id: string;
  run: number;
  /** Of the item when the wait began. */
  version: number;
  /** What a cancelled caller wants: its wait ends, or the item. */
  onCancel: 'leave' | 'withdraw';
  /** Who asked for it. */
  actor: string;
}

/** How it ended: `state` and the rest by its kind, as the contract of the Nexus operations says. */
export interface Outcome {
  state: string;
  [field: string]: unknown;
}
