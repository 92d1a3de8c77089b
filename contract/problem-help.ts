import type { ProblemCode } from './problems.ts';

interface Help {
  meaning: string;
  action: string;
  /** Members that only problems with this code have. */
  fields?: string;
}

/** The meaning of each code for callers, in Markdown with code spans only: shown at a problem's `type` and in docs/errors.md. */
export const PROBLEM_HELP: Record<ProblemCode, Help> = {
  invalid_request: {
    meaning:
      'The body is not valid JSON (400), or a value of the path, the query or the body is wrong (422). An unknown field or query parameter is wrong, too. A decision that does not fit its queue’s `form`, and a callback to a private address, are reported this way.',
    action: 'Correct what `errors` names. The same call again gets the same answer.',
    fields: '`errors`: a list of `{path, message}`',
  },
  unauthenticated: {
    meaning: 'The server asks for keys. The key is missing, unknown, revoked or past its `expiresAt`.',
    action:
      'Send `Authorization: Bearer <key>`. An administrator makes keys with `docket key create`. In a browser, sign in again.',
  },
  forbidden: {
    meaning:
      'The key is valid, and its role, its subject or its `queues` do not allow this call. Also: a juror who is not eligible any more, a server without keys that is called by another machine or by a page of another site.',
    action: 'Use a key whose role allows the call; `detail` says what is missing.',
  },
  not_found: {
    meaning: 'There is no such item, queue or path, or it was cleared after its retention.',
    action: 'Check the id, and that it is percent-encoded in the path.',
  },
  method_not_allowed: {
    meaning: 'The path exists and has no such method.',
    action: 'Use one of the methods in the header `Allow`.',
  },
  unsupported_media_type: {
    meaning: 'A body was sent that is not declared as JSON.',
    action: 'Send `Content-Type: application/json`.',
  },
  payload_too_large: {
    meaning:
      'The body has more than 256 KB, or more than 8 MB for batches, lists of jurors and reviews. An entry of a batch has more than 256 KB.',
    action: 'Send less: smaller batches, or an address of the content in place of the content.',
  },
  rate_limited: {
    meaning:
      'The process has more than 5,000 calls at once, more than 100 of them have keys that it has not seen before, too many bodies of this caller are on their way, the key has made more calls than its `callsPerSecond`, or 20 wrong keys came from this address within a minute.',
    action: 'Repeat the call after the seconds in `Retry-After`. Repeats are harmless.',
    fields: '`retryAfter`: the same in seconds',
  },
  id_conflict: {
    meaning:
      'The id exists with other content, compared as it was first sent. Also: a picture belongs to another review.',
    action:
      'If it is a repeat, send exactly what was sent first. If it is another item, give it another id. To change an open ticket, `PATCH` it.',
  },
  in_use: {
    meaning:
      'What is to be deleted has items or is named by others, or the settings would remove an option of a court for which votes on open cases have been cast.',
    action:
      'End or move what uses it first. Keep the option until these cases have ended, or resolve or invalidate them.',
    fields: '`cases`: up to 1,000 of these cases, the oldest first',
  },
  not_open: {
    meaning: 'The item is final: decided, finished, invalidated, expired or dead. A final item never changes again.',
    action:
      'Drop your result. `state`, `by`, `at` and `reason` say who ended it, when and why. To have it decided again, add it anew.',
    fields: '`state`, `by`, `at`, `reason`',
  },
  lease_lost: {
    meaning:
      'The item is open, and the token is not that of its live lease. `reason` says why the lease ended: `expired` (its time ran out), `released` (given back), `transferred` (moved to another queue), `revoked` (taken by an operator), `settled` (this token was used with other content).',
    action:
      'Drop your result, and claim again. If leases expire often, renew them while work goes on, or raise `leaseSeconds`.',
    fields: '`holder`: who holds it now, null to reviewers; `endedAt`; `reason`',
  },
  changed: {
    meaning: 'The body or the requirements of the ticket have changed since the `version` that the decision names.',
    action: 'Read the ticket again and decide what it says now: the lease is still yours. Name the new `version`.',
    fields: '`version`: the ticket’s version now',
  },
  erased: {
    meaning: 'The item of this id was erased: its content is gone for good, and the id is not given again.',
    action: 'Drop the call. To add another item, give it another id.',
  },
  not_final: {
    meaning: 'What is to be looked at again has not been decided, or ended without a decision.',
    action: 'Ask again when it is decided. What nobody needs to decide can be invalidated.',
  },
  window_closed: {
    meaning: 'The decision is older than the `second.appealDays` of its queue.',
    action: 'A supervisor can still overturn it, or ask for a check.',
  },
  already_open: {
    meaning: 'A second look at the decision is open, and this call does not join it.',
    action: 'Wait for its outcome, or overturn the decision, which decides the open look.',
  },
  already_voted: {
    meaning: 'The person has voted on this case, perhaps with another account.',
    action: 'Claim another case. A vote cannot be changed.',
  },
  conflict_of_interest: {
    meaning: 'The juror, or another account of the same person, is a party of the case.',
    action: 'Claim another case.',
  },
  limit_reached: {
    meaning:
      'The executor has as many rotating tasks as `DOCKET_MAX_ROTATIONS` allows, or the task would catch up more than 10,000 occurrences.',
    action:
      'Delete rotating tasks that are not needed, or give a later `startTime` or a smaller `lookbackSeconds` or `maxLookbackSeconds`.',
  },
  template_mismatch: {
    meaning: 'The parameters of a task do not match its template.',
    action: 'Correct what `errors` names, or make another template.',
    fields: '`errors`: every mismatch, up to 50',
  },
  stale_log_id: {
    meaning:
      'The log id is not that of the user’s last dispatch: they have been given another one since, or the dispatch went back to stock after `answerSeconds`.',
    action: 'Drop the result, and ask for the next task.',
    fields: '`current`: the log id of the user’s open dispatch, or null',
  },
  unavailable: {
    meaning: 'PostgreSQL cannot be reached or took too long; for calls that ask a workflow, Temporal or its worker.',
    action: 'Repeat the call after the seconds in `Retry-After`, with growing pauses. Repeats are harmless.',
  },
  internal: {
    meaning: 'A bug in Docket. Nothing that a caller sends should lead to it.',
    action: 'Report it with the `requestId`, which is in the server’s log with the cause. The call may be repeated.',
  },
};
