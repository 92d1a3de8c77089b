import type { ComponentChildren } from 'preact';
import { texts } from '../texts/texts.ts';
import './table.css';

export interface Column<Row> {
  /** Unique in its table. */
  id: string;
  title: string;
  /** Numbers and durations stand at the right, in digits of one width. */
  numeric?: boolean;
  cell: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  /** What a screen reader calls it. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Below the last row: that there is more. */
  footer?: ComponentChildren;
}

/** A table whose first column names the row. Wide ones scroll in their own frame, never the page; on narrow screens rows are cards. */
export function Table<Row>({ caption, columns, rows, rowKey, footer }: Props<Row>) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys */}
      <section class="table-frame" aria-label={texts.value.common.tableOf(caption)} tabIndex={0}>
        <table class="cards">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.id} scope="col" class={classOf(column)}>
                  {column.title}
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
      {footer}
    </>
  );
}

function Row<R>({ columns: [first, ...others], row }: { columns: readonly Column<R>[]; row: R }) {
  return (
    <tr>
      {first && (
        <th scope="row" class={classOf(first)}>
          {first.cell(row)}
        </th>
      )}
      {others.map((column) => (
        <td key={column.id} class={classOf(column)} data-label={column.title}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

const classOf = <Row,>({ numeric }: Column<Row>) => (numeric ? 'numeric' : undefined);
