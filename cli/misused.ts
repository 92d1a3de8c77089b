/** A command line that cannot be understood: exit code 2. */
export class Misused extends Error {}
