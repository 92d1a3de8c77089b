/** The kinds of items. All but rotations, which make tasks, are leased. */
export const KINDS = ['ticket', 'job', 'case', 'task', 'rotation'] as const;

/** The kinds that have a retention. */
export const KEPT_KINDS = ['ticket', 'job', 'case', 'task', 'review'] as const;

/** The kinds that calls about deliveries accept. Jobs are among them by the contract, but are pushed and have no deliveries. */
export const DELIVERED_KINDS = ['ticket', 'job', 'case', 'task', 'review'] as const;
