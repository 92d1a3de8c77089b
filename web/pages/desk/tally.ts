/** What this tab has done since it was opened. */
export interface Tally {
  decided: number;
  skipped: number;
  transferred: number;
  lost: number;
  /** From when a ticket was shown to its decision, over all that were decided. */
  decidingMs: number;
}

export const NOTHING: Tally = { decided: 0, skipped: 0, transferred: 0, lost: 0, decidingMs: 0 };

/** Seconds for a ticket, on average; null: none was decided yet. */
export const secondsEach = ({ decided, decidingMs }: Tally) => (decided === 0 ? null : decidingMs / decided / 1000);
