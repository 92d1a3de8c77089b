import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { api, data, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { number } from '../../components/format.ts';
import { Button, Empty, Loaded, Page, Section, saidOf } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { Tabs } from './tabs.tsx';

const MOST_SHOWN = 200;

const change = (gid: string, body: Schemas['ChangeMembers']) =>
  data(api.POST('/v1/groups/{gid}/members', { params: { path: { gid } }, body }));

/** A group's members. */
export function TaskGroup() {
  const t = texts.value.taskLists;
  const { gid = '' } = useRoute().params;
  const found = useGet('/v1/groups/{gid}', { path: { gid } });
  return (
    <Page title={gid} actions={mayAct('producer') && found.data && <AddMembers gid={gid} onSaved={found.refresh} />}>
      <Tabs />
      <p class="row lead">
        <a href="/tasks/groups">{t.backToGroups}</a>
        <a href={`/tasks?executor=${encodeURIComponent(`gid_${gid}`)}`}>{t.tasksOf}</a>
        <span class="muted">{t.groupHint}</span>
      </p>
      <Section title={t.membersOf(gid)}>
        <Loaded of={found}>{({ members }) => <Members gid={gid} members={members} refresh={found.refresh} />}</Loaded>
      </Section>
    </Page>
  );
}

function Members({ gid, members, refresh }: { gid: string; members: string[]; refresh: () => void }) {
  const t = texts.value.taskLists;
  const [wanted, setWanted] = useState('');
  const remove = async (uid: string) => {
    await change(gid, { add: [], remove: [uid] });
    toast(t.removed(uid));
    refresh();
  };
  const columns: Column<string>[] = [
    { title: t.uid, cell: (uid) => uid },
    {
      title: texts.value.schedules.columns.actions,
      numeric: true,
      cell: (uid) =>
        mayAct('producer') && (
          <Button
            does={texts.value.form.remove}
            about={uid}
            run={() => remove(uid).catch((error) => toast(saidOf(error), 'bad'))}
          />
        ),
    },
  ];
  if (members.length === 0) return <Empty>{t.noMembers}</Empty>;
  const fitting = members.filter((uid) => uid.includes(wanted));
  const shown = fitting.slice(0, MOST_SHOWN);
  return (
    <>
      <div class="row inset">
        <input
          type="search"
          aria-label={t.filter}
          placeholder={t.filter}
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <output class="muted">{t.firstOf(number(shown.length), number(members.length))}</output>
      </div>
      {shown.length > 0 && <Table caption={t.membersOf(gid)} columns={columns} rows={shown} rowKey={(uid) => uid} />}
    </>
  );
}

function AddMembers({ gid, onSaved }: { gid: string; onSaved: () => void }) {
  const t = texts.value.taskLists;
  const add = ({ add: names }: { add: string[] }) => change(gid, { add: names, remove: [] });
  return (
    <Action
      primary
      label={t.addMembers}
      fields={[{ kind: 'lines', name: 'add', said: t.members, empty: 'required' }]}
      run={add}
      onDone={onSaved}
      done={texts.value.settings.saved}
    />
  );
}
