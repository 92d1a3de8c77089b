import { type Draft, read } from '../../components/form/draft.ts';
import {
  type BuiltField,
  choice,
  count,
  type FieldSpec,
  type Part,
  picked,
  proposed,
  seconds,
} from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';
import { callbackFields } from './callback-form.ts';
import { conditionsIn, FIELDS, OPERATORS, takesList, takesValue, whenOf } from './conditions.ts';
import { FIELD_TYPES, fieldsIn, formIn, hasOptions, keptIn } from './decision-fields.ts';

interface Beside {
  /** Fields of tickets to choose from. */
  known?: readonly string[];
  preview?: BuiltField['preview'];
}

/** Every setting of a queue. */
export function queueForm({ queueSettings: t, form }: Texts, { known = [], preview }: Beside = {}): Part[] {
  const escalation: FieldSpec[] = [
    proposed(seconds('afterSeconds', t.afterSeconds, 600)),
    proposed(count('priority', t.level, 100)),
  ];
  const rule: FieldSpec[] = [
    { kind: 'text', name: 'name', said: t.ruleName, empty: 'omit' },
    whenField(t, known),
    { ...count('priority', t.setPriority, null), empty: 'omit' },
    { ...count('add', t.addPriority, null), empty: 'omit' },
    { kind: 'lines', name: 'requires', said: t.requires, empty: 'omit' },
  ];
  const callback = callbackFields(form);
  return [
    {
      title: t.handing,
      fields: [
        seconds('leaseSeconds', t.leaseSeconds, 300),
        choice('lease', t.lease, t.leases, 'fixed'),
        count('maxHeld', t.maxHeld, 1),
        { kind: 'flag', name: 'reclaimedFirst', said: t.reclaimedFirst, initial: false },
        { kind: 'flag', name: 'registered', said: t.registered, initial: false },
        { kind: 'text', name: 'categoryFrom', said: t.categoryFrom, empty: 'null' },
      ],
    },
    {
      title: t.priority,
      fields: [
        {
          ...{ kind: 'optional', name: 'ageing', said: t.ageing },
          fields: [proposed(seconds('secondsPerLevel', t.secondsPerLevel, 60))],
        },
        {
          ...{ kind: 'rows', name: 'escalations', said: t.escalations, fields: escalation },
          ...{ row: t.escalation, add: t.addEscalation },
        },
        { kind: 'rows', name: 'rules', said: t.rules, fields: rule, row: t.rule, add: t.addRule },
      ],
    },
    {
      title: t.endings,
      fields: [
        seconds('deadlineSeconds', t.deadlineSeconds, null),
        seconds('serviceSeconds', t.serviceSeconds, null),
        count('maxAttempts', t.maxAttempts, null),
      ],
    },
    {
      title: t.outcome,
      fields: [
        { kind: 'optional', name: 'callback', said: t.callback, fields: callback },
        { kind: 'text', name: 'sync', said: t.sync, empty: 'null', among: () => ['subject'] },
        { ...formField(t), ...(preview && { preview }) },
      ],
    },
    checksPart(t),
    modelsPart(t),
    {
      title: t.desk,
      fields: [{ kind: 'lines', name: 'highlight', said: t.highlight, empty: 'omit' }, guidelinesField(t)],
    },
  ];
}

/** A ticket on which a dry run tries the rules. */
export const trialPart = ({ queueSettings: t }: Texts): Part => ({
  title: t.trial,
  fields: [{ kind: 'json', name: 'ticket', said: t.trialTicket, empty: 'omit' }],
});

/** Conditions of a rule, all of which must hold. */
const whenField = (t: Texts['queueSettings'], known: readonly string[]): BuiltField => ({
  ...{ kind: 'built', name: 'when', said: t.when, empty: 'omit', partsOf: conditionsIn, valueOf: whenOf },
  fields: [
    {
      ...{ kind: 'rows', name: 'conditions', said: t.conditions, row: t.condition, add: t.addCondition, isTight: true },
      fields: [
        {
          ...{ kind: 'text', name: 'field', said: t.conditionField, empty: 'required' },
          ...{ pattern: '^[^.]+(\\.[^.]+)*$', suggestions: [...new Set([...FIELDS, ...known])] },
        },
        { ...choice('op', t.op, picked(OPERATORS, t.ops), 'is'), proposed: true },
        {
          ...{ kind: 'text', name: 'value', said: t.conditionValue, empty: 'required' },
          onlyIf: ({ op }) => takesValue(op) && !takesList(op),
        },
        { kind: 'lines', name: 'values', said: t.conditionValue, empty: 'required', onlyIf: ({ op }) => takesList(op) },
      ],
    },
  ],
});

/** What decisions are made of, and how it looks at the desk. */
function formField(t: Texts['queueSettings']): BuiltField {
  const texts = guidelinesField(t);
  const guideline: FieldSpec = {
    ...{ kind: 'text', name: 'x-guideline', said: t.guideline, empty: 'omit' },
    among: (whole) => {
      const draft = { base: {}, values: whole as Draft['values'] };
      return Object.keys(read([texts], draft, {} as never).value.guidelines ?? {});
    },
  };
  const title: FieldSpec = { kind: 'text', name: 'title', said: t.fieldTitle, empty: 'omit' };
  const natural = { empty: 'omit', isInteger: true, least: 0 } as const;
  const ofNumbers = ({ type }: Record<string, unknown>) => type === 'number' || type === 'integer';
  const option: FieldSpec[] = [
    { kind: 'text', name: 'const', said: t.optionValue, empty: 'required' },
    ...[title, guideline],
  ];
  const field: FieldSpec[] = [
    { kind: 'text', name: 'name', said: t.fieldName, empty: 'required' },
    { ...choice('type', t.fieldType, picked(FIELD_TYPES, t.fieldTypes), 'one'), proposed: true },
    { kind: 'flag', name: 'required', said: t.fieldRequired, initial: false, proposed: true },
    ...[title, guideline].map((one): FieldSpec => ({ ...one, onlyIf: ({ type }) => type !== 'json' })),
    { kind: 'text', name: 'description', said: t.fieldHint, empty: 'omit', onlyIf: ({ type }) => type !== 'json' },
    { ...count('minimum', t.fieldLeast, null), empty: 'omit', onlyIf: ofNumbers },
    { ...count('maximum', t.fieldMost, null), empty: 'omit', onlyIf: ofNumbers },
    { ...count('minItems', t.fieldLeast, null), ...natural, onlyIf: ({ type }) => type === 'several' },
    {
      ...count('maxLength', t.fieldLength, null),
      ...natural,
      onlyIf: ({ type }) => type === 'text' || type === 'long',
    },
    {
      ...{ kind: 'rows', name: 'options', said: t.fieldOptions, fields: option, unique: 'const' },
      ...{ row: t.option, add: t.addOption, isTight: true, onlyIf: ({ type }) => hasOptions(type) },
    },
    { kind: 'json', name: 'schema', said: t.fieldSchema, empty: 'required', onlyIf: ({ type }) => type === 'json' },
  ];
  return {
    ...{ kind: 'built', name: 'form', said: t.form, empty: 'null' },
    ...{ partsOf: fieldsIn, valueOf: formIn, kept: ({ form }) => keptIn(form) },
    fields: [
      {
        ...{ kind: 'rows', name: 'fields', said: t.formFields, fields: field, unique: 'name' },
        ...{ row: t.field, add: t.addField },
        kept: ({ kept }) => Object.keys((kept as { members?: object } | undefined)?.members ?? {}),
      },
    ],
  };
}

/** Texts by name. */
const guidelinesField = (t: Texts['queueSettings']): BuiltField => ({
  ...{ kind: 'built', name: 'guidelines', said: t.guidelines, empty: 'omit' },
  partsOf: (value) => ({ texts: Object.entries(value ?? {}).map(([name, text]) => ({ name, text })) }),
  valueOf: ({ texts }) =>
    Object.fromEntries(
      (texts as { name?: string; text: string }[]).flatMap(({ name, text }) => (name ? [[name, text]] : [])),
    ),
  fields: [
    {
      ...{
        kind: 'rows',
        name: 'texts',
        said: t.guidelineTexts,
        unique: 'name',
        row: t.guidelineRow,
        add: t.addGuideline,
      },
      fields: [
        { kind: 'text', name: 'name', said: t.fieldName, empty: 'required' },
        { kind: 'text', name: 'text', said: t.guidelineText, empty: 'required', isLong: true },
      ],
    },
  ],
});

const checksPart = (t: Texts['queueSettings']): Part => ({
  title: t.checks,
  fields: [
    {
      ...{ kind: 'object', name: 'second', said: t.second },
      fields: [
        count('share', t.share, 0),
        {
          ...{ kind: 'optional', name: 'adapt', said: t.adapt },
          fields: [proposed(count('min', t.adaptMin, 0.02)), proposed(count('max', t.adaptMax, 0.2))],
        },
        choice('of', t.of, t.deciders, 'people'),
        { kind: 'text', name: 'queue', said: t.secondQueue, empty: 'omit' },
        { kind: 'flag', name: 'blind', said: t.blind, initial: true },
        { kind: 'lines', name: 'compare', said: t.compare, empty: 'omit' },
        count('appealDays', t.appealDays, 180),
      ],
    },
    {
      ...{ kind: 'object', name: 'gold', said: t.gold },
      fields: [count('share', t.goldShare, 0), { kind: 'text', name: 'idPrefix', said: t.idPrefix, empty: 'null' }],
    },
  ],
});

const modelsPart = (t: Texts['queueSettings']): Part => ({
  title: t.deciders.models,
  fields: [
    {
      ...{ kind: 'object', name: 'assist', said: t.assist },
      fields: [
        choice('mode', t.assistMode, t.assistModes, 'off'),
        count('minConfidence', t.minConfidence, 1),
        count('share', t.assistShare, 0),
      ],
    },
  ],
});
