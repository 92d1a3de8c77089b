import { count, type FieldSpec, type Part, proposed, seconds } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';
import { callbackFields } from './callback-form.ts';

/** Every setting of a queue. */
export function queueForm({ queueSettings: t, form }: Texts): Part[] {
  const escalation: FieldSpec[] = [
    proposed(seconds('afterSeconds', t.afterSeconds, 600)),
    proposed(count('priority', t.level, 100)),
  ];
  const rule: FieldSpec[] = [
    { kind: 'text', name: 'name', said: t.ruleName, empty: 'omit' },
    { ...count('priority', t.setPriority, null), empty: 'omit' },
    { ...count('add', t.addPriority, null), empty: 'omit' },
    { kind: 'lines', name: 'requires', said: t.requires, empty: 'omit' },
    { kind: 'json', name: 'when', said: t.when, empty: 'omit' },
  ];
  const callback = callbackFields(form);
  return [
    {
      title: t.handing,
      fields: [
        seconds('leaseSeconds', t.leaseSeconds, 300),
        { kind: 'choice', name: 'lease', said: t.lease, options: Object.entries(t.leases), initial: 'fixed' },
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
        { kind: 'text', name: 'sync', said: t.sync, empty: 'null' },
        { kind: 'json', name: 'form', said: t.form, empty: 'null' },
      ],
    },
    checksPart(t),
    modelsPart(t),
    {
      title: t.desk,
      fields: [
        { kind: 'lines', name: 'highlight', said: t.highlight, empty: 'omit' },
        { kind: 'json', name: 'guidelines', said: t.guidelines, empty: 'omit' },
      ],
    },
  ];
}

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
        { kind: 'choice', name: 'of', said: t.of, options: Object.entries(t.deciders), initial: 'people' },
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
  title: t.models,
  fields: [
    {
      ...{ kind: 'object', name: 'assist', said: t.assist },
      fields: [
        {
          kind: 'choice',
          name: 'mode',
          said: t.assistMode,
          options: Object.entries(t.assistModes),
          initial: 'off',
        },
        count('minConfidence', t.minConfidence, 1),
        count('share', t.assistShare, 0),
      ],
    },
  ],
});
