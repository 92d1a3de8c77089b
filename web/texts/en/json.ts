/** Someone's JSON and texts. */
export const json = {
  more: (n: string) => `Show ${n} more`,
  whole: (n: string) => `Show all ${n} characters`,
};
