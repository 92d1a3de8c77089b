import type { Schemas } from '../../api/client.ts';
import { choice, count, type FieldSpec, type Part, seconds, zone } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';
import { callbackFields } from '../settings/callback-form.ts';

export type Template = Schemas['Template'];

interface Known {
  /** null: a new one. */
  task: Schemas['Task'] | null;
  templates: readonly Template[];
  /** The one that is chosen. */
  template: Template | undefined;
  /** `gid_…` */
  executors: readonly string[];
}

/** Every field of a task; its parameters are those of its template. */
export const taskForm = (texts: Texts, known: Known): Part[] => [
  { title: texts.tasks.form.what, fields: what(texts, known) },
  { title: texts.tasks.form.when, fields: when(texts.tasks.form, known) },
  { title: texts.tasks.form.dispatching, fields: dispatching(texts.tasks.form) },
  { title: texts.queueSettings.outcome, fields: [callback(texts, known)] },
];

type FormTexts = Texts['tasks']['form'];

function what({ tasks: { form: t } }: Texts, { task, templates, template, executors }: Known): FieldSpec[] {
  const options = templates.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const);
  return [
    ...(task ? [] : [{ kind: 'text', name: 'id', said: t.id, empty: 'omit' } as const]),
    { kind: 'text', name: 'executor', said: t.executor, empty: 'required', suggestions: executors },
    {
      ...choice('templateId', t.templateId, template ? options : [['', t.noTemplate], ...options], ''),
      proposed: true,
    },
    {
      ...{ kind: 'object', name: 'params' },
      said: template ? t.params : [t.params[0], t.chooseTemplate],
      fields: template ? paramFields(template, t) : [],
    },
  ];
}

/** A template's parameters as fields. */
export const paramFields = ({ params }: Template, t: FormTexts): FieldSpec[] =>
  Object.entries(params).map(([name, { type, required }]) => ({
    ...{ kind: 'param', name, type },
    said: [name, t.param(t.types4[type], required)],
  }));

function when(t: FormTexts, { task }: Known): FieldSpec[] {
  const type: FieldSpec = { ...choice('type', t.type, t.types, 'once'), proposed: true };
  const rhythm: FieldSpec[] = [
    count('everyMinutes', t.everyMinutes, null),
    { kind: 'text', name: 'dailyTime', said: t.dailyTime, empty: 'null' },
    count('everyDays', t.everyDays, 1),
    zone(t.timezone),
  ];
  return [
    ...(task ? [] : [type]),
    { kind: 'moment', name: 'startTime', said: t.startTime, empty: 'required' },
    ...(task ? (task.type === 'rotate' ? rhythm : []) : rhythm.map(ofNew)),
    { kind: 'moment', name: 'endTime', said: t.endTime, empty: 'null' },
  ];
}

const ofNew = (field: FieldSpec): FieldSpec => ({ ...field, onlyIf: ({ type }) => type === 'rotate' });

const dispatching = (t: FormTexts): FieldSpec[] => [
  count('dispatchTimes', t.dispatchTimes, 1),
  choice('dispatch', t.dispatch, t.dispatches, 'each-once'),
  choice('catchUp', t.catchUp, t.catchUps, 'all'),
  seconds('lookbackSeconds', t.lookbackSeconds, 86_400),
  seconds('maxLookbackSeconds', t.maxLookbackSeconds, null),
  seconds('answerSeconds', t.answerSeconds, null),
];

/** A task is shown without its callback's secret, so an empty one is none that was taken away. */
const callback = ({ tasks: { form: t }, form }: Texts, { task }: Known): FieldSpec => ({
  ...{ kind: 'optional', name: 'callback', said: t.callback },
  fields: callbackFields(form, task ? t.keptSecret : form.callbackSecret),
});
