import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { api, data, get, type Schemas } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { DeleteButton } from '../../components/action.tsx';
import { type Draft, isDraft } from '../../components/form/draft.ts';
import { Form, type FormState, Parts, useForm } from '../../components/form/form.tsx';
import type { Part } from '../../components/form/spec.ts';
import { Button, Loaded, Page } from '../../components/page.tsx';
import { toast } from '../../components/toasts.tsx';
import { taskPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { changedIn } from '../settings/settings-of.ts';
import { paramFields, type Template, taskForm } from './form.ts';
import { Tabs } from './tabs.tsx';

type Task = Schemas['Task'];
const MOST = 500;

interface Known {
  templates: Template[];
  /** `gid_…` */
  executors: string[];
}

/** What a form offers to choose from; the task's own template is there, however many there are. */
async function loadKnown(signal: AbortSignal, used?: string): Promise<Known> {
  const params = { query: { limit: MOST } };
  const [templates, groups] = await Promise.all([
    get('/v1/templates', params, signal),
    get('/v1/groups', params, signal),
  ]);
  const isMissing = used !== undefined && !templates.items.some(({ id }) => id === used);
  const own =
    isMissing &&
    (await get('/v1/templates/{id}', { path: { id: used } }, signal)
      // a deleted task's template may be deleted as well
      .catch(() => null));
  return {
    templates: own ? [own, ...templates.items] : templates.items,
    executors: groups.items.map(({ id }) => `gid_${id}`),
  };
}

/** Adds a task. */
export function NewTask() {
  const known = useResource((signal) => loadKnown(signal), []);
  return (
    <Page title={texts.value.pages.newTask}>
      <Tabs />
      <Loaded of={known}>{(found) => <Adding known={found} />}</Loaded>
    </Page>
  );
}

function Adding({ known }: { known: Known }) {
  const t = texts.value.tasks;
  const [added, setAdded] = useState<Task | null>(null);
  const { form, parts, onChange } = useTaskForm(known, null);
  const add = () => {
    setAdded(null);
    return form.submit(async (body) => {
      // the document has a type of its own for each rhythm; which one this is, the API says
      setAdded(await data(api.POST('/v1/tasks', { body: body as never })));
      form.settle();
      scrollTo(0, 0);
    });
  };
  return (
    <TaskForm form={form} parts={parts} onChange={onChange} onSubmit={() => void add()}>
      {added && (
        <Said task={added}>
          {t.added(added.id)} <a href={taskPath(added.id)}>{t.open}</a>
        </Said>
      )}
    </TaskForm>
  );
}

/** A task: its fields to change, and deleting it. */
export function EditTask() {
  const { tasks: t, items } = texts.value;
  const { id = '' } = useRoute().params;
  const found = useResource(
    async (signal) => {
      const task = await get('/v1/tasks/{id}', { path: { id } }, signal);
      return { task, known: await loadKnown(signal, task.templateId) };
    },
    [id],
  );
  const task = found.data?.task;
  const actions = task?.state === 'active' && mayAct('producer') && <Delete id={id} />;
  const executor = encodeURIComponent(task?.executor ?? '');
  return (
    <Page title={items.title(items.kinds.task, id)} actions={actions}>
      <Tabs />
      <p class="row lead">
        <a href={`/tasks/calendar?executor=${executor}`}>{t.inCalendar}</a>
        <a href={`/tasks/log?taskId=${encodeURIComponent(id)}`}>{t.itsLog}</a>
      </p>
      <Loaded of={found}>{({ task: it, known }) => <Changing key={it.id} task={it} known={known} />}</Loaded>
    </Page>
  );
}

function Delete({ id }: { id: string }) {
  const { route } = useLocation();
  const remove = () => data(api.DELETE('/v1/tasks/{id}', { params: { path: { id } } }));
  return <DeleteButton name={id} hint={texts.value.tasks.deleteHint} run={remove} onDone={() => route('/tasks')} />;
}

function Changing({ task: loaded, known }: { task: Task; known: Known }) {
  const t = texts.value.tasks;
  const [task, setTask] = useState(loaded);
  const [isSaved, setSaved] = useState(false);
  const { form, parts, onChange } = useTaskForm(known, task);
  const changed = changedIn(task as object as Record<string, unknown>, form.value);
  const save = () =>
    form.submit(async (value) => {
      const body = Object.fromEntries(changed.map((name) => [name, value[name]])) as Schemas['PatchTask'];
      const answer = await data(api.PATCH('/v1/tasks/{id}', { params: { path: { id: task.id } }, body }));
      const { warnings: _, ...kept } = answer;
      setTask(kept);
      form.saved(kept);
      setSaved(true);
      toast([texts.value.settings.saved, ...(answer.warnings ?? []).map(({ message }) => message)].join(' '));
    });
  const isDeleted = task.state === 'deleted';
  const isChanged = form.errors.length > 0 || changed.length > 0;
  return (
    <TaskForm
      form={form}
      parts={parts}
      onChange={onChange}
      onSubmit={() => void save()}
      disabled={isDeleted || !isChanged || !mayAct('producer')}
      state={isChanged ? t.changeHint : texts.value.settings.nothingToSave}
    >
      {isDeleted && <p class="note warn">{t.isDeleted}</p>}
      {isSaved && <Said task={task}>{texts.value.settings.saved}</Said>}
    </TaskForm>
  );
}

/** What was saved, and what cannot take effect yet. */
function Said({ task, children }: { task: Task; children: ComponentChildren }) {
  return (
    <div class="note" role="status">
      <p>{children}</p>
      {task.warnings?.map(({ path, message }) => (
        <p key={path}>
          <code>{path}</code> {message}
        </p>
      ))}
    </div>
  );
}

function useTaskForm({ templates, executors }: Known, task: Task | null) {
  const [templateId, setTemplate] = useState(task?.templateId ?? '');
  const find = (id: unknown) => templates.find((one) => one.id === id);
  const parts = taskForm(texts.value, { task, templates, template: find(templateId), executors });
  const form = useForm(
    parts.flatMap(({ fields }) => fields),
    task as Record<string, unknown> | null,
  );
  const onChange = (draft: Draft) => {
    const { templateId: chosen } = draft.values;
    if (typeof chosen !== 'string' || chosen === templateId) return form.setDraft(draft);
    setTemplate(chosen);
    form.setDraft(withParams(draft, find(chosen)));
  };
  return { form, parts, onChange };
}

/** The inputs of another template; what has the same name is kept. */
function withParams(draft: Draft, template: Template | undefined): Draft {
  const { params } = draft.values;
  const old = isDraft(params) ? params.values : {};
  const fields = template ? paramFields(template, texts.value.tasks.form) : [];
  const values = Object.fromEntries(fields.map(({ name }) => [name, old[name] ?? '']));
  return { ...draft, values: { ...draft.values, params: { base: {}, values } } };
}

interface TaskFormProps {
  form: FormState;
  parts: readonly Part[];
  onChange: (draft: Draft) => void;
  onSubmit: () => void;
  disabled?: boolean;
  state?: string;
  children?: ComponentChildren;
}

function TaskForm({ form, parts, onChange, onSubmit, disabled = false, state, children }: TaskFormProps) {
  const actions = (
    <>
      <Button does={texts.value.common.save} look="primary" disabled={form.busy || disabled} />
      {state && <output class="muted">{state}</output>}
    </>
  );
  return (
    <Form of={form} onSubmit={onSubmit} actions={actions} isChanged={state !== undefined && !disabled}>
      {children}
      <Parts parts={parts} draft={form.draft} onChange={onChange} problem={form.problem} />
    </Form>
  );
}
