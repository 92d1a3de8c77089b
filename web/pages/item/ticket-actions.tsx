import { api, data, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { choice, count, type FieldSpec, proposed } from '../../components/form/spec.ts';
import { texts } from '../../texts/texts.ts';
import { decisionField } from '../desk/decision.tsx';

type Ticket = Schemas['Ticket'];

interface Props {
  ticket: Ticket;
  refresh: () => void;
}

/** Why something is done to an item. */
export interface Why {
  reason?: string;
}

export function reasonField(empty: 'required' | 'omit' = 'required'): FieldSpec {
  const t = texts.value.items.actions;
  const label = empty === 'required' ? texts.value.items.fields.reason : t.reasonOptional;
  return { kind: 'text', name: 'reason', said: [label, t.reasonHint], empty, most: 200 };
}

const MOST = 500;

function useTransferFields(): FieldSpec[] {
  const t = texts.value.items.actions;
  const known = useGet('/v1/queues', { query: { limit: MOST } });
  const options = known.data?.items.map(({ name }) => [name, name] as const) ?? [];
  return [{ ...choice('queue', [t.toQueue, ''], options, ''), proposed: true }, reasonField('omit')];
}

/** What may be done to an open ticket from outside. */
export function TicketActions({ ticket: { id, queue, lease, priority }, refresh }: Props) {
  const t = texts.value.items.actions;
  const params = { path: { id } };
  const holder = lease?.reviewer;
  const settings = useGet('/v1/queues/{queue}', { path: { queue } });
  const { field, decisionIn } = decisionField(settings.data?.form);
  const then =
    <Value,>(call: (value: Value) => Promise<unknown>) =>
    (value: Readonly<Record<string, unknown>>) =>
      call(value as Value).then(refresh);
  return (
    <>
      {mayAct('producer') && (
        <Action
          {...t.reprioritize}
          will={t.reprioritizeWill(priority)}
          fields={[proposed(count('priority', [t.priority, t.priorityHint], priority))]}
          run={then((body: { priority: number }) => data(api.PATCH('/v1/tickets/{id}', { params, body })))}
        />
      )}
      {mayAct('supervisor') && holder !== undefined && (
        <Action
          {...t.release}
          will={t.releaseWill(holder)}
          fields={[reasonField('omit')]}
          run={then((body: Why) => data(api.POST('/v1/tickets/{id}/release', { params, body })))}
        />
      )}
      {mayAct('supervisor') && (
        <Action
          {...t.transfer}
          will={t.transferWill}
          fields={useTransferFields}
          run={then((body: Why & { queue: string }) => data(api.POST('/v1/tickets/{id}/transfer', { params, body })))}
        />
      )}
      {mayAct('producer') && settings.data && (
        <Action
          {...t.resolve}
          will={lease === null ? t.resolveWill : t.resolveHeldWill(lease.reviewer)}
          fields={[field, reasonField()]}
          run={then(({ decision: filled, reason = '' }: Why & { decision: unknown }) => {
            const body = { decision: decisionIn(filled), reason };
            return data(api.POST('/v1/tickets/{id}/resolve', { params, body }));
          })}
        />
      )}
      {mayAct('producer') && (
        <Action
          {...t.invalidate}
          will={holder === undefined ? t.invalidateWill : t.invalidateHeldWill(holder)}
          fields={[reasonField()]}
          danger
          run={then(({ reason = '' }: Why) =>
            data(api.POST('/v1/tickets/{id}/invalidate', { params, body: { reason } })),
          )}
        />
      )}
    </>
  );
}
