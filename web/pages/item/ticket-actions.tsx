import { api, data, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useGet, useQueues } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { choice, count, type FieldSpec, proposed, seconds } from '../../components/form/spec.ts';
import { texts } from '../../texts/texts.ts';
import { decisionField } from '../desk/decision.tsx';

type Ticket = Schemas['Ticket'];

interface Props {
  ticket: Ticket;
  refresh: () => void;
}

/** Why something is done to an item. */
export type Why = { reason?: string };

export function reasonField(empty: 'required' | 'omit' = 'required'): FieldSpec {
  const t = texts.value.items.actions;
  const label = empty === 'required' ? texts.value.items.fields.reason : t.reasonOptional;
  return { kind: 'text', name: 'reason', said: [label, t.reasonHint], empty, most: 200 };
}

function useTransferFields(): FieldSpec[] {
  const t = texts.value.items.actions;
  const options = useQueues().map(({ name }) => [name, name] as const);
  return [{ ...choice('queue', [t.toQueue, ''], options, ''), proposed: true }, reasonField('omit')];
}

/** Takes an open ticket from its holder, moves it to another queue, or keeps it for one person. `about`: where there are several. */
export function Moves({ ticket: { id, lease, ...ticket }, refresh, about }: Props & { about?: string }) {
  const t = texts.value.items.actions;
  const params = { path: { id } };
  const keepFor = ({ for: person, seconds }: { for: string | null; seconds: number | null }) => {
    const since = Math.max(0, serverNow() - Date.parse(ticket.availableAt)) / 1_000;
    const body = { for: person, forSeconds: person === null || seconds === null ? null : since + seconds };
    return data(api.PATCH('/v1/tickets/{id}', { params, body }));
  };
  const release = (body: Why) => data(api.POST('/v1/tickets/{id}/release', { params, body }));
  const named = { ...(about !== undefined && { about, title: about }), onDone: refresh };
  const transfer = (body: Why & { queue: string }) => data(api.POST('/v1/tickets/{id}/transfer', { params, body }));
  return (
    <>
      {mayAct('supervisor') && lease !== null && (
        <Action
          {...{ ...t.release, ...named }}
          will={t.releaseWill(lease.reviewer)}
          fields={[reasonField('omit')]}
          run={release}
        />
      )}
      {mayAct('supervisor') && (
        <Action {...{ ...t.transfer, ...named }} will={t.transferWill} fields={useTransferFields} run={transfer} />
      )}
      {mayAct('producer') && (
        <Action
          {...{ ...t.keepFor, ...named }}
          will={t.keepForWill}
          fields={[
            { kind: 'text', name: 'for', said: [texts.value.lists.reviewer, t.keepForWhomHint], empty: 'null' },
            seconds('seconds', [t.keepForTime, t.keepForTimeHint], null),
          ]}
          given={{ for: ticket.for }}
          run={keepFor}
        />
      )}
    </>
  );
}

/** What may be done to an open ticket from outside. */
export function TicketActions({ ticket, refresh }: Props) {
  const t = texts.value.items.actions;
  const { id, queue, lease, priority } = ticket;
  const params = { path: { id } };
  const loses = lease ? t.holderLoses(lease.reviewer) : '';
  const settings = useGet('/v1/queues/{queue}', { path: { queue } });
  const { field, decisionIn } = decisionField(settings.data?.form);
  return (
    <>
      {mayAct('producer') && (
        <Action
          {...t.reprioritize}
          will={t.reprioritizeWill(priority)}
          fields={[proposed(count('priority', [t.priority, t.priorityHint], priority))]}
          run={(body: { priority: number }) => data(api.PATCH('/v1/tickets/{id}', { params, body }))}
          onDone={refresh}
        />
      )}
      <Moves {...{ ticket, refresh }} />
      {mayAct('producer') && settings.data && (
        <Action
          {...t.resolve}
          will={`${t.resolveWill} ${loses}`}
          fields={[field, reasonField()]}
          run={({ decision: filled, reason = '' }: Why & { decision: unknown }) => {
            const body = { decision: decisionIn(filled), reason };
            return data(api.POST('/v1/tickets/{id}/resolve', { params, body }));
          }}
          onDone={refresh}
        />
      )}
      {mayAct('producer') && (
        <Action
          {...t.invalidate}
          will={`${t.invalidateWill} ${loses}`}
          fields={[reasonField()]}
          danger
          run={({ reason = '' }: Why) => data(api.POST('/v1/tickets/{id}/invalidate', { params, body: { reason } }))}
          onDone={refresh}
        />
      )}
    </>
  );
}
