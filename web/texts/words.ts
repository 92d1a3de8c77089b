/** The label of a field, and what it does. */
export const said = (label: string, does: string): readonly [label: string, does: string] => [label, does];

/** `n` as it is shown, with what follows it: for one, or for several. */
export const plural = (n: string, one: string, several: string) => `${n} ${n === '1' ? one : several}`;
