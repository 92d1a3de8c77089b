import { useAgain } from '../../api/again.ts';
import { api, data, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useGet, useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { State } from '../../components/badge.tsx';
import { moment, number } from '../../components/format.ts';
import { type Column, Listing } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { isOpen } from '../lists/filters.ts';
import './deliveries.css';
import { IN_FEED, isAbout, type PartKind, placeOf } from './sources.ts';

type Delivery = Schemas['Delivery'];
/** What has deliveries, by the names that the API gives kinds there. */
type DeliveredKind = Schemas['ListedDelivery']['kind'];

/** Sends it again. @throws CallError */
export const redeliver = (kind: DeliveredKind, itemId: string, n: number) =>
  data(api.POST('/v1/deliveries/{kind}/{itemId}/{n}/redeliver', { params: { path: { kind, itemId, n } } }));

const DELIVERIES = 20;
/** Attempts are in no event but the last. */
const ATTEMPTS_MS = 5_000;

/** What was sent to the callback of an item or a review, with what outcome, and what comes next. */
export function Deliveries({ kind, id }: { kind: Exclude<PartKind, 'job'>; id: string }) {
  const t = texts.value.deliveries;
  const { at, path } = placeOf(kind, id, 'deliveries');
  const list = useList(at, { path, query: { limit: DELIVERIES } }, isAbout(kind, id));
  const isUnderWay = list.data?.some(({ state }) => state === 'pending') ?? false;
  useAgain(list.refresh, isUnderWay ? ATTEMPTS_MS : null);
  const columns = columnsOf(IN_FEED[kind] as DeliveredKind, id, list.refresh);
  return (
    <Listing
      title={t.title}
      list={list}
      columns={columns}
      rowKey={({ n }) => String(n)}
      empty={kind === 'ticket' ? <NoneSent id={id} /> : t.noneHere}
    />
  );
}

/** Of a ticket that is final only one of the two causes is left. */
function NoneSent({ id }: { id: string }) {
  const t = texts.value.deliveries;
  const ticket = useGet('/v1/tickets/{id}', { path: { id } }, { on: isAbout('ticket', id) });
  return <>{!ticket.data ? t.noneHere : isOpen(ticket.data.state) ? t.notFinal : t.noCallback}</>;
}

function columnsOf(kind: DeliveredKind, itemId: string, refresh: () => void): (Column<Delivery> | false)[] {
  const { deliveries, items } = texts.value;
  const c = deliveries.columns;
  const again = ({ n, url }: Delivery) => <Redeliver {...{ kind, itemId, n, url, refresh }} />;
  return [
    { title: c.type, cell: ({ type }) => <MessageType type={type} /> },
    { title: items.fields.state, cell: ({ state }) => <State state={state} /> },
    { title: c.cause, cell: (delivery) => <Cause delivery={delivery} /> },
    { title: items.fields.attempts, numeric: true, cell: ({ attempts }) => number(attempts) },
    { title: c.next, cell: ({ nextAttemptAt: at }) => <NextAttempt at={at} /> },
    { title: c.url, cell: ({ url }) => <code>{url}</code> },
    { title: items.version, numeric: true, cell: ({ version }) => version },
    mayAct('producer') && { title: c.action, cell: again },
  ];
}

interface RedeliverProps {
  kind: DeliveredKind;
  itemId: string;
  n: number;
  url: string;
  refresh: () => void;
}

/** A button that sends a delivery again. */
export function Redeliver({ kind, itemId, n, url, refresh }: RedeliverProps) {
  const t = texts.value.deliveries;
  const will = t.redeliverWill(url);
  const again = { run: () => redeliver(kind, itemId, n), onDone: refresh, done: t.redelivered };
  return <Action label={t.redeliver} title={t.redeliverTitle} will={will} {...again} />;
}

/** `ticket.decided`, which may break after its dot only. */
export function MessageType({ type }: { type: string }) {
  const [about, ...what] = type.split('.');
  return (
    <span class="delivery-type">
      {about}.<wbr />
      {what.join('.')}
    </span>
  );
}

/** Why a delivery has not arrived: what its receiver answered, or why there was no answer. */
export function Cause({ delivery: { status, error } }: { delivery: Pick<Delivery, 'status' | 'error'> }) {
  const said = [status === null ? null : `HTTP ${status}`, error].filter(Boolean);
  return <span class="delivery-cause">{said.length === 0 ? '–' : said.join(' · ')}</span>;
}

/** When it is tried next; a time that has passed means that its host has to answer another call first. */
export function NextAttempt({ at }: { at: string | null }) {
  if (at === null) return <>–</>;
  return <>{Date.parse(at) < serverNow() ? texts.value.deliveries.due : moment(at)}</>;
}
