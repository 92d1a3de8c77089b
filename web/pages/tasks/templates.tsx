import { api, data, type Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct, session } from '../../api/session.ts';
import { Action, DeleteButton } from '../../components/action.tsx';
import { choice, type FieldSpec } from '../../components/form/spec.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';
import { Tabs } from './tabs.tsx';

type Template = Schemas['Template'];
type Param = Template['params'][string] & { name: string };

/** What tasks' parameters must look like. A template is never changed: tasks rely on it. */
export function TaskTemplates() {
  const { taskLists: t, pages } = texts.value;
  const list = useList('/v1/templates', {});
  return (
    <Page title={pages.taskTemplates} actions={mayAct('producer') && <NewTemplate onMade={list.refresh} />}>
      <Tabs />
      <Listing title={pages.taskTemplates} list={list} columns={columns(list.refresh)} empty={t.noTemplates} />
    </Page>
  );
}

function columns(refresh: () => void): Column<Template>[] {
  const { taskLists: t, tasks, common, schedules } = texts.value;
  const said = ([name, { type, required }]: [string, Template['params'][string]]) =>
    `${name}: ${tasks.form.param(tasks.form.types4[type], required)}`;
  return [
    { title: t.templateId[0], cell: ({ id }) => id },
    { title: common.name, cell: ({ name }) => name },
    {
      title: t.params[0],
      cell: ({ params }) => Object.entries(params).map(said).join('; ') || common.none,
    },
    {
      title: schedules.columns.actions,
      numeric: true,
      cell: ({ id }) => mayAct('producer') && session.value?.queues === null && <Delete id={id} refresh={refresh} />,
    },
  ];
}

function Delete({ id, refresh }: { id: string; refresh: () => void }) {
  const remove = () => data(api.DELETE('/v1/templates/{id}', { params: { path: { id } } }));
  return <DeleteButton name={id} hint={texts.value.taskLists.deleteHint} run={remove} onDone={refresh} isOneOfMany />;
}

const templateFields = ({ taskLists: t, tasks, queueSettings }: Texts): FieldSpec[] => [
  { kind: 'text', name: 'name', said: t.templateName, empty: 'required' },
  { kind: 'text', name: 'id', said: t.templateId, empty: 'omit' },
  {
    ...{ kind: 'rows', name: 'params', said: t.params, row: t.param, add: t.addParam, unique: 'name' },
    fields: [
      { kind: 'text', name: 'name', said: queueSettings.fieldName, empty: 'required' },
      { ...choice('type', [tasks.form.type[0], ''], tasks.form.types4, 'string'), proposed: true },
      { kind: 'flag', name: 'required', said: queueSettings.fieldRequired, initial: true, proposed: true },
    ],
  },
];

function NewTemplate({ onMade }: { onMade: () => void }) {
  const t = texts.value.taskLists;
  const create = ({ params: rows, ...rest }: Omit<Template, 'params'> & { params: Param[] }) => {
    const params = Object.fromEntries(rows.map(({ name, type, required }) => [name, { type, required }]));
    return data(api.POST('/v1/templates', { body: { ...rest, params } }));
  };
  return (
    <Action
      primary
      label={t.newTemplate}
      fields={templateFields(texts.value)}
      submit={t.create}
      run={create}
      onDone={onMade}
      done={texts.value.settings.saved}
    />
  );
}
