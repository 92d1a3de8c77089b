/** Records on one page of a list, in bytes; a single record may be larger. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** Whether later rows were left out, because the page would have become too large. */
export function isCut(rows: object[]): boolean {
  const { page_no = 0, page_rows = 0 } = (rows.at(-1) ?? {}) as { page_no?: number; page_rows?: number };
  return page_rows > page_no;
}
