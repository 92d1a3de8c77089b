/** The label of a field, and what it does. */
export const said = (label: string, does: string): readonly [label: string, does: string] => [label, does];
