import { useState } from 'preact/hooks';
import { api, data, type Schemas } from '../../api/client.ts';
import { mayAct } from '../../api/session.ts';
import { QueuePicker } from '../../components/queue-picker.tsx';
import { texts } from '../../texts/texts.ts';
import { Action, Input } from './actions.tsx';
import { parseJson } from './parse.ts';

type Ticket = Schemas['Ticket'];

interface Props {
  ticket: Ticket;
  refresh: () => void;
}

/** What may be done to an open ticket from outside. */
export function TicketActions({ ticket, refresh }: Props) {
  const { id, lease } = ticket;
  const t = texts.value.items.actions;
  const path = { path: { id } };
  const holder = lease?.reviewer;
  return (
    <>
      {mayAct('producer') && <Reprioritize ticket={ticket} refresh={refresh} />}
      {mayAct('supervisor') && holder !== undefined && (
        <Action
          {...t.release}
          will={t.releaseWill(holder)}
          reason="optional"
          run={async (reason) => {
            await data(api.POST('/v1/tickets/{id}/release', { params: path, body: reason ? { reason } : {} }));
            refresh();
          }}
        />
      )}
      {mayAct('supervisor') && <Transfer ticket={ticket} refresh={refresh} />}
      {mayAct('producer') && <Resolve ticket={ticket} refresh={refresh} />}
      {mayAct('producer') && (
        <Action
          {...t.invalidate}
          will={holder === undefined ? t.invalidateWill : t.invalidateHeldWill(holder)}
          reason="required"
          danger
          run={async (reason) => {
            await data(api.POST('/v1/tickets/{id}/invalidate', { params: path, body: { reason } }));
            refresh();
          }}
        />
      )}
    </>
  );
}

function Reprioritize({ ticket: { id, priority }, refresh }: Props) {
  const t = texts.value.items.actions;
  const [wanted, setWanted] = useState('');
  const run = async () => {
    const body = { priority: Number(wanted === '' ? priority : wanted) };
    await data(api.PATCH('/v1/tickets/{id}', { params: { path: { id } }, body }));
    setWanted('');
    refresh();
  };
  return (
    <Action {...t.reprioritize} will={t.reprioritizeWill(priority)} run={run}>
      <Input label={t.priority} hint={t.priorityHint} value={wanted} set={setWanted} />
    </Action>
  );
}

function Transfer({ ticket: { id }, refresh }: Props) {
  const t = texts.value.items.actions;
  const [queue, setQueue] = useState('');
  const run = async (reason: string) => {
    const body = { queue, ...(reason && { reason }) };
    await data(api.POST('/v1/tickets/{id}/transfer', { params: { path: { id } }, body }));
    setQueue('');
    refresh();
  };
  return (
    <Action {...t.transfer} will={t.transferWill} reason="optional" run={run}>
      <QueuePicker label={t.toQueue} value={queue} set={setQueue} />
    </Action>
  );
}

function Resolve({ ticket: { id, lease }, refresh }: Props) {
  const t = texts.value.items.actions;
  const [decision, setDecision] = useState('');
  const run = async (reason: string) => {
    const body = { decision: parseJson(decision), reason };
    await data(api.POST('/v1/tickets/{id}/resolve', { params: { path: { id } }, body }));
    setDecision('');
    refresh();
  };
  const will = lease === null ? t.resolveWill : t.resolveHeldWill(lease.reviewer);
  return (
    <Action {...t.resolve} will={will} reason="required" run={run}>
      <Input label={t.decision} hint={t.decisionHint} value={decision} set={setDecision} />
    </Action>
  );
}
