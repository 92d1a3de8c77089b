import { api, data, type Schemas } from '../../api/client.ts';
import { Action } from '../../components/action.tsx';
import { count, type FieldSpec, seconds } from '../../components/form/spec.ts';
import type { ListKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { giveCommand } from '../item/job.tsx';

/** Adds a ticket, job or case by hand. @throws CallError */
const ADDERS = {
  ticket: (queue: string, body: Schemas['NewTicket']) =>
    data(api.POST('/v1/queues/{queue}/tickets', { params: { path: { queue } }, body })),
  case: (court: string, body: Schemas['NewCase']) =>
    data(api.POST('/v1/courts/{court}/cases', { params: { path: { court } }, body })),
  job: (topic: string, body: object) => giveCommand({ command: 'add', topic, ...body }),
} satisfies Record<ListKind, unknown>;

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
  const add = (given: Schemas['NewTicket'] & Schemas['NewCase']) => ADDERS[kind](queue, given);
  return <Action label={t.add[kind]} fields={[body, ...own[kind]]} run={add} done={t.isAdded} />;
}
