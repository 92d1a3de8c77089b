import type { FieldSpec } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';

/** A receiver over HTTP, and what signs its messages. */
export const receiverFields = (t: Texts['form']): FieldSpec[] => [
  { kind: 'text', name: 'url', said: t.callbackUrl, empty: 'required' },
  { kind: 'secret', name: 'secret', said: t.callbackSecret },
];

/** The same, or a workflow. The server says what is missing. */
export const callbackFields = (t: Texts['form'], secret = t.callbackSecret): FieldSpec[] => [
  { kind: 'text', name: 'url', said: t.callbackUrl, empty: 'omit' },
  { kind: 'secret', name: 'secret', said: secret, empty: 'omit' },
  {
    ...{ kind: 'object', name: 'temporal', said: t.workflow, empty: 'omit' },
    fields: [
      { kind: 'text', name: 'namespace', said: t.workflowNamespace, empty: 'required' },
      { kind: 'text', name: 'workflowId', said: t.workflowId, empty: 'required' },
      { kind: 'text', name: 'runId', said: t.workflowRun, empty: 'omit' },
      { kind: 'text', name: 'signal', said: t.workflowSignal, empty: 'required' },
    ],
  },
];
