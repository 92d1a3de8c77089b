import { defineKind, reopened, stays } from './kind.ts';

/** A rotating task, which makes occurrences. */
export const rotation = defineKind({
  title: 'Rotating tasks',
  words: { delayed: 'active', expired: 'ended', invalidated: 'deleted' },
  lifecycle: {
    none: { created: 'delayed' },
    delayed: { ended: 'expired', deleted: 'invalidated', ...stays('delayed', 'changed', 'parked', 'refused') },
    expired: { changed: 'delayed', ...stays('expired', 'refused', 'erased') },
    invalidated: stays('invalidated', 'refused', 'erased'),
  },
  leased: 'never',
  workflow: reopened('rotation'),
  signals: { cancel: 'invalidate' },
  court: false,
  clock: 'advance_rotations',
  exhausted: null,
  overdue: null,
  order: 'age',
  quiet: ['created'],
  frees: () => 0,
  outcome: null,
});
