/** What is an item: all but rotations, which make tasks, are leased. */
export const KINDS = ['ticket', 'job', 'case', 'task', 'rotation'] as const;

/** What has deliveries. */
export const DELIVERED_KINDS = ['ticket', 'job', 'case', 'task', 'review'] as const;
