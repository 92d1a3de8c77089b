/** The kinds of items. All but rotations, which make tasks, are leased. */
export const KINDS = ['ticket', 'job', 'case', 'task', 'rotation'] as const;

/** The kinds that have a retention. */
export const KEPT_KINDS = ['ticket', 'job', 'case', 'task', 'review'] as const;

/** The kinds that calls about deliveries accept. Jobs are among them by the contract, but are pushed and have no deliveries. */
export const DELIVERED_KINDS = ['ticket', 'job', 'case', 'task', 'review'] as const;

/** The roles of keys. In a file without schemas, so that help texts load nothing else. */
export const ROLES = ['producer', 'reviewer', 'agent', 'consumer', 'supervisor', 'model', 'admin'] as const;
