import { count, type Part } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';
import { receiverFields } from './callback-form.ts';

/** Every setting of a topic. */
export const topicForm = ({ topicSettings: t, form }: Texts): Part[] => [
  {
    title: t.general,
    fields: [
      count('maxAttempts', t.maxAttempts, null),
      { kind: 'choice', name: 'ids', said: t.ids, options: Object.entries(t.idsOnce), initial: 'reuse' },
      { kind: 'choice', name: 'workflow', said: t.workflow, options: Object.entries(t.workflows), initial: 'always' },
      {
        ...{ kind: 'optional', name: 'push', said: t.push },
        fields: [...receiverFields(form), count('concurrency', t.concurrency, 10)],
      },
    ],
  },
];
