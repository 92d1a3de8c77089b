import { choice, count, type Part } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';
import { receiverFields } from './callback-form.ts';

/** Every setting of a topic. */
export const topicForm = ({ topicSettings: t, form, deliveries }: Texts): Part[] => [
  {
    title: deliveries.kinds.job,
    fields: [
      count('maxAttempts', t.maxAttempts, null),
      choice('ids', t.ids, t.idsOnce, 'reuse'),
      choice('workflow', t.workflow, t.workflows, 'always'),
      {
        ...{ kind: 'optional', name: 'push', said: t.push },
        fields: [...receiverFields(form), count('concurrency', t.concurrency, 10)],
      },
    ],
  },
];
