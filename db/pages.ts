import { PAGE_BYTES } from '../domain/pages.ts';

/** The size of the fields that every record has. */
const RECORD_BYTES = 500;
/** The highest ratio of a value's length to its compressed size. */
const MOST_COMPRESSED = 255;

/**
 * Limits the rows of a statement to one page, and at least one row, if it names its large columns in a comment
 * `-- bytes: a, b`. So no more than a page leaves the database, however long the list is. A compressed value has to be
 * read to be measured: that is done only where a page may be too large, row by row until it is full. `page_no` and
 * `page_rows` are for `isCut`.
 * @returns the text to run; without such a comment, the same text
 */
export function bounded(text: string): string {
  const columns = /^-- bytes: (.+)$/m.exec(text)?.[1]?.split(/, */);
  if (!columns) return text;
  const sum = (of: (column: string) => string) => `${RECORD_BYTES} + ${columns.map(of).join(' + ')}`;
  const sized = (row: string, compressed: (column: string) => string) =>
    sum((column) => {
      const at = `${row}.${column}`;
      const size = `case when pg_column_compression(${at}) is null then pg_column_size(${at}) else ${compressed(at)} end`;
      return `coalesce(${size}, 0)`;
    });
  const most = sized('p', (at) => `${MOST_COMPRESSED}::bigint * pg_column_size(${at})`);
  const exact = sized('s', (at) => `octet_length(${at}::text)`);
  return `
with recursive page as materialized (
${text}
), numbered as materialized (
  select p.*, row_number() over () as page_no, count(*) over () as page_rows, sum(${most}) over () as page_most from page p
), measured (no, bytes) as (
  select s.page_no, (${exact})::bigint from numbered s where s.page_no = 1 and s.page_most > ${PAGE_BYTES}
  union all
  select t.page_no, t.bytes from measured m cross join lateral (
    select s.page_no, m.bytes + ${exact} as bytes from numbered s where s.page_no = m.no + 1 offset 0) t
   where t.bytes <= ${PAGE_BYTES}
)
select * from numbered where page_most <= ${PAGE_BYTES} or page_no <= (select max(no) from measured) order by page_no`;
}
