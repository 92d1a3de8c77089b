import type { Change as Published } from '../contract/items.ts';
import type { ReviewRecord } from '../contract/reviews.ts';

const placed = (parts: ReviewRecord['pictures']) => parts.map((p, position) => ({ ...p, position }));

interface ReviewParts {
  id: string;
  record: ReviewRecord;
  body: unknown;
  version: number;
  createdAt: string;
  updatedAt: string;
  erased?: boolean;
}

/** A review as the API shows it: as it is, or as it was after one change. */
export function reviewView({ id, record, body, version, createdAt, updatedAt, erased }: ReviewParts) {
  return {
    id,
    status: record.text.status,
    text: record.text,
    pictures: placed(record.pictures),
    replies: placed(record.replies),
    body,
    version,
    createdAt,
    updatedAt,
    ...(erased && { erased }),
  };
}

interface Line {
  kind: string;
  targetId: string | null;
  status: number | null;
  auditTime: string | null;
  outcome: string;
  /** The record after an edit. */
  after: unknown;
}

/** The record after one more line of the log; the same object if nothing has changed. */
export function recordAfter(
  record: ReviewRecord,
  { kind, targetId, status, auditTime, outcome, after }: Line,
): ReviewRecord {
  if (outcome === 'edited') return after as ReviewRecord;
  if (outcome !== 'applied' || status === null) return record;
  const applied = { status, auditTime };
  if (kind === 'text') return { ...record, text: applied };
  const place = kind === 'picture' ? 'pictures' : 'replies';
  return { ...record, [place]: record[place].map((p) => (p.id === targetId ? { ...p, ...applied } : p)) };
}

/** The content of a message about one change. */
export interface Change {
  record: ReviewRecord;
  body: unknown;
  createdAt: string;
  updatedAt: string;
}

/** What a line of the log says of one target: its status before and after, null where it was not there. */
interface TargetChange {
  kind: string;
  targetId: string | null;
  before: number | null;
  after: number | null;
  auditTime: string | null;
  callbackId: string | null;
}

/** A line of the log that changed a review: of an audit, or of an edit with the records before and after it. */
export type ChangedLine = TargetChange | { kind: 'edit'; before: ReviewRecord; after: ReviewRecord };

/** `{type, version, review, changes}` of one change: the review as it was after it, and what changed with it. */
export function changeMessage(id: string, version: number, change: Change, line: ChangedLine) {
  const changes = isEdit(line) ? changedTargets(line.before, line.after) : [line];
  return { type: 'review.changed', version, review: reviewView({ id, version, ...change }), changes };
}

const isEdit = (line: ChangedLine): line is Extract<ChangedLine, { before: ReviewRecord }> => line.kind === 'edit';

/** The targets that an edit added, removed or gave another status. */
function changedTargets(old: ReviewRecord, now: ReviewRecord): TargetChange[] {
  const before = targetsOf(old);
  const after = targetsOf(now);
  return [...new Map([...before, ...after])].flatMap(([key, { kind, id: targetId, auditTime }]) => {
    const [was, is] = [before.get(key)?.status ?? null, after.get(key)?.status ?? null];
    return was === is ? [] : [{ kind, targetId, before: was, after: is, auditTime, callbackId: null }];
  });
}

const targetsOf = ({ text, pictures, replies }: ReviewRecord) =>
  new Map(
    [
      { kind: 'text', id: null, ...text },
      ...pictures.map((p) => ({ kind: 'picture', ...p })),
      ...replies.map((r) => ({ kind: 'reply', ...r })),
    ].map((target) => [`${target.kind}/${target.id ?? ''}`, target] as const),
  );

const MIN_STATUS = -2_147_483_648;
const MAX_STATUS = 2_147_483_647;

/** The status that a decision has for a review; undefined: none that is valid for one. */
export function statusOf(decision: unknown): number | undefined {
  const status = (decision as { status?: unknown } | null)?.status;
  if (typeof status !== 'number' || !Number.isInteger(status)) return undefined;
  return status >= MIN_STATUS && status <= MAX_STATUS ? status : undefined;
}

/** A review that has received callbacks. */
export function reviewChange(id: string, version: number, at: Date): Published {
  return {
    ...{ kind: 'review', id, queue: '', state: 'ready', version, wake_at: null, holder: null, delivery_pending: true },
    ...{ event_seq: version, last_event: 'received', last_actor: 'system', updated_at: at, lacks_jurors: false },
  };
}
