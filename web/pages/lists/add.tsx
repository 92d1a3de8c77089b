import { api, data, type Schemas } from '../../api/client.ts';
import { Action } from '../../components/action.tsx';
import { count, type FieldSpec, seconds } from '../../components/form/spec.ts';
import type { ListKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { giveCommand } from '../item/job.tsx';

type Given = Readonly<Record<string, unknown>>;

/** Adds a ticket, job or case by hand. @throws CallError */
const ADDERS: Record<ListKind, (name: string, body: Given) => Promise<void>> = {
  ticket: async (queue, body) => {
    const params = { path: { queue } };
    await data(api.POST('/v1/queues/{queue}/tickets', { params, body: body as Schemas['NewTicket'] }));
  },
  case: async (court, body) => {
    const params = { path: { court } };
    await data(api.POST('/v1/courts/{court}/cases', { params, body: body as Schemas['NewCase'] }));
  },
  job: (topic, body) => giveCommand({ command: 'add', topic, ...body }),
};

/** A button that asks for an item, and adds it. */
export function Add({ kind, queue }: { kind: ListKind; queue: string }) {
  const { lists: t, items, taskLists, schedules } = texts.value;
  const id = { kind: 'text', name: 'id' } as const;
  const body: FieldSpec = { kind: 'json', name: 'body', said: t.addedBody, empty: 'required' };
  const priority = [
    items.fields.priority,
    kind === 'job' ? schedules.priority[1] : items.actions.priorityHint,
  ] as const;
  const own: Record<ListKind, FieldSpec[]> = {
    ticket: [
      { ...id, said: taskLists.templateId, empty: 'omit' },
      { ...count('priority', priority, 0), empty: 'omit' },
    ],
    job: [
      { ...id, said: [t.id, ''], empty: 'required' },
      { ...count('priority', priority, 1024), empty: 'omit' },
      seconds('TTR', schedules.ttr, 60),
      seconds('delay', [items.states.delayed ?? '', ''], 0),
    ],
    case: [{ ...id, said: taskLists.templateId, empty: 'omit' }],
  };
  const add = (given: Given) => ADDERS[kind](queue, given);
  return <Action label={t.add[kind]} fields={[body, ...own[kind]]} run={add} done={t.isAdded} />;
}
