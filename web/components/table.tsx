import type { ComponentChildren } from 'preact';
import type { Listed } from '../api/resource.ts';
import { texts } from '../texts/texts.ts';
import { Button, Empty, Loaded, Section } from './page.tsx';
import './table.css';

export interface Column<Row> {
  /** Unique in its table. */
  title: string;
  /** Numbers and durations stand at the right, in digits of one width. */
  numeric?: boolean;
  /** How the rows are sorted by it, and the address of the same rows in the opposite order. */
  sorted?: { as: 'ascending' | 'descending'; opposite: string };
  cell: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  /** What a screen reader calls it. */
  caption: string;
  /** Those that are false are left out. */
  columns: readonly (Column<Row> | false)[];
  rows: readonly Row[];
  /** Left out: by the id of a row, else by its name. */
  rowKey?: (row: Row) => string;
  /** Instead of a table without rows. */
  empty?: ComponentChildren;
  /** Shows more rows; undefined: there are no more. */
  more?: (() => void) | undefined;
}

/** A table whose first column names the row. Wide ones scroll in their own frame, never the page; on narrow screens rows are cards. */
export function Table<Row>({ caption, columns: all, rows, rowKey = keyOf, empty, more }: Props<Row>) {
  const columns = all.filter((column) => column !== false);
  return (
    <>
      {empty !== undefined && rows.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys
        <section class="table-frame" aria-label={texts.value.common.tableOf(caption)} tabIndex={0}>
          <table class="cards">
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.title} scope="col" class={classOf(column)} aria-sort={column.sorted?.as}>
                    {column.sorted ? <Sorted {...column.sorted}>{column.title}</Sorted> : column.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={rowKey(row)} columns={columns} row={row} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <More more={more} of={caption} />
    </>
  );
}

function Sorted({ as, opposite, children }: NonNullable<Column<unknown>['sorted']> & { children: string }) {
  return (
    <a href={opposite}>
      {children} <span aria-hidden="true">{as === 'ascending' ? '↑' : '↓'}</span>
    </a>
  );
}

const keyOf = (row: unknown): string => {
  const { id, name } = row as { id?: string; name?: string };
  return id ?? name ?? '';
};

function Row<R>({ columns: [first, ...others], row }: { columns: readonly Column<R>[]; row: R }) {
  return (
    <tr>
      {first && (
        <th scope="row" class={classOf(first)}>
          {first.cell(row)}
        </th>
      )}
      {others.map((column) => (
        <td key={column.title} class={classOf(column)} data-label={column.title}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

const classOf = <Row,>({ numeric }: Column<Row>) => (numeric ? 'numeric' : undefined);

/** Below a list: shows one page more. `of` is what the list is called, for screen readers. */
export function More({ more, of }: { more: (() => void) | undefined; of: string }) {
  const { showMore } = texts.value.common;
  if (!more) return null;
  return (
    <div class="bar">
      <Button does={showMore} about={of} run={more} />
    </div>
  );
}

interface ListingProps<Row> extends Omit<Props<Row>, 'caption' | 'rows' | 'more'> {
  title: string;
  list: Listed<Row>;
  actions?: ComponentChildren;
  /** Above the list. */
  children?: ComponentChildren;
}

/** A list of the API as a titled table, page by page. */
export function Listing<Row>({ title, list, actions, children, ...table }: ListingProps<Row>) {
  return (
    <Section title={title} actions={actions}>
      {children}
      <Loaded of={list}>{(rows) => <Table caption={title} rows={rows} more={list.more} {...table} />}</Loaded>
    </Section>
  );
}
