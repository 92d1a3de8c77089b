/** What is an item: all but rotations, which make tasks, are leased. */
export const KINDS = ['ticket', 'job', 'case', 'task', 'rotation'] as const;

/** What retention knows. */
export const KEPT_KINDS = ['ticket', 'job', 'case', 'task', 'review'] as const;

/** The kinds that calls about deliveries take. Jobs are among them by the contract and have none: a push is an attempt of its job. */
export const DELIVERED_KINDS = ['ticket', 'job', 'case', 'task', 'review'] as const;
