/** The roles of keys. In a file without schemas, so that help texts load nothing else. */
export const ROLES = ['producer', 'reviewer', 'agent', 'consumer', 'supervisor', 'model', 'admin'] as const;
