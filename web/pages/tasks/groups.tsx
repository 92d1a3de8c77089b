import { useLocation } from 'preact-iso';
import { api, data, get, orNull, type Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { refusal } from '../../components/form/form.tsx';
import type { FieldSpec } from '../../components/form/spec.ts';
import { moment, number } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';
import { Tabs } from './tabs.tsx';

/** Groups of users that tasks are for. */
export function TaskGroups() {
  const { taskLists: t, common, pages, settings } = texts.value;
  const list = useList('/v1/groups', {});
  const columns: Column<Schemas['GroupSummary']>[] = [
    { title: common.name, cell: ({ id }) => <a href={`/tasks/groups/${encodeURIComponent(id)}`}>{id}</a> },
    { title: t.size, numeric: true, cell: ({ size }) => number(size) },
    { title: settings.changed, numeric: true, cell: ({ updatedAt }) => moment(updatedAt) },
  ];
  return (
    <Page title={pages.taskGroups} actions={mayAct('producer') && <NewGroup />}>
      <Tabs />
      <Listing title={pages.taskGroups} list={list} columns={columns} empty={t.noGroups} />
    </Page>
  );
}

const groupFields = ({ taskLists: t }: Texts): FieldSpec[] => [
  { kind: 'text', name: 'gid', said: t.gid, empty: 'required' },
  { kind: 'lines', name: 'members', said: t.members, empty: 'omit' },
];

/** Makes a group. One that is there already is not emptied by that. */
function NewGroup() {
  const t = texts.value.taskLists;
  const { route } = useLocation();
  const create = async ({ gid: typed, members = [] }: { gid: string; members?: string[] }) => {
    const gid = typed.trim();
    if (await orNull(get('/v1/groups/{gid}', { path: { gid } })))
      throw refusal('id_conflict', [{ path: 'gid', message: t.exists(gid) }]);
    await data(api.PUT('/v1/groups/{gid}', { params: { path: { gid } }, body: { members } }));
    route(`/tasks/groups/${encodeURIComponent(gid)}`);
  };
  return <Action primary label={t.newGroup} fields={groupFields(texts.value)} submit={t.create} run={create} />;
}
