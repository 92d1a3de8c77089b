/** What a key's caller may be. Without a schema, so that help texts can name them and load nothing else. */
export const ROLES = ['producer', 'reviewer', 'agent', 'consumer', 'admin'] as const;
