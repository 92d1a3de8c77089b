/**
 * The schema's edition, raised by one in each release that changes anything in db/migrations or db/functions, so that
 * programs can tell a newer schema from an older one. The database records the edition that it was last migrated to.
 */
export const EDITION = 3;

/**
 * The oldest edition whose programs work on this schema. Raised to EDITION only where a change breaks them: they stop
 * being ready the moment the migration begins.
 */
export const MIN_COMPATIBLE = 3;
