import { useLocation } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { Badge } from '../../components/badge.tsx';
import { Body } from '../../components/body/body.tsx';
import { Fold } from '../../components/fold.tsx';
import { Filters } from '../../components/form/filters.tsx';
import type { LeafSpec } from '../../components/form/spec.ts';
import { moment } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { changesPath } from '../../links.ts';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';
import './admin-log.css';

type Entry = Schemas['AdminLogEntry'];

const filterFields = ({ adminLog: t }: Texts): LeafSpec[] => [
  { kind: 'text', name: 'path', said: t.path, empty: 'omit' },
];

/** Who changed which setting or key, newest first. */
export function AdminLog() {
  const t = texts.value;
  const { query: asked } = useLocation();
  const { path } = asked;
  const list = useList('/v1/admin-log', { query: { path } });
  return (
    <Page title={t.pages.adminLog}>
      <p class="muted lead">{t.adminLog.lead}</p>
      <Filters key={JSON.stringify(asked)} path="/admin-log" fields={filterFields(t)} />
      <Listing
        title={t.pages.adminLog}
        list={list}
        columns={columns()}
        rowKey={({ seq }) => String(seq)}
        empty={t.adminLog.none}
      />
    </Page>
  );
}

function columns(): Column<Entry>[] {
  const { columns: c, path } = texts.value.adminLog;
  const more = ({ keyId, requestId, body }: Entry) => (
    <Fold summary={texts.value.form.show}>{() => <Body value={{ keyId, requestId, body }} />}</Fold>
  );
  return [
    { title: texts.value.items.votes.at, cell: ({ at }) => moment(at) },
    { title: c.actor, cell: ({ actor }) => actor },
    { title: c.operation, cell: ({ operation }) => <code class="admin-log-call">{operation}</code> },
    { title: path[0], cell: ({ path }) => <a href={changesPath(path)}>{path}</a> },
    { title: c.status, cell: ({ status }) => <Status status={status} /> },
    { title: c.more, cell: more },
  ];
}

const FIRST_ERROR = 400;

function Status({ status }: Pick<Entry, 'status'>) {
  if (status === null) return <Badge tone="warn">{texts.value.adminLog.unknown}</Badge>;
  return <Badge tone={status < FIRST_ERROR ? 'good' : 'bad'}>{status}</Badge>;
}
