import type { ComponentChildren } from 'preact';
import type { Listed } from '../api/resource.ts';
import { Empty, Loaded } from './feedback.tsx';
import { More } from './more.tsx';
import { Section } from './page.tsx';
import { type Column, Table } from './table.tsx';

interface Props<Row> {
  title: string;
  list: Listed<Row>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  empty: string;
  actions?: ComponentChildren;
}

/** A list of the API as a titled table, page by page. */
export function Listing<Row>({ title, list, columns, rowKey, empty, actions }: Props<Row>) {
  return (
    <Section title={title} actions={actions}>
      <Loaded of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <>
              <Empty>{empty}</Empty>
              <More more={list.more} of={title} />
            </>
          ) : (
            <Table
              caption={title}
              columns={columns}
              rows={rows}
              rowKey={rowKey}
              footer={<More more={list.more} of={title} />}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
