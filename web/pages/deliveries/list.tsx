import { useState } from 'preact/hooks';
import { useAgain } from '../../api/again.ts';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { moment, number } from '../../components/format.ts';
import { saidOf } from '../../components/page.tsx';
import { SelectAll, type Selection, selecting } from '../../components/selection.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import { pathOf } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { Cause, MessageType, NextAttempt, Redeliver, redeliver } from '../item/deliveries.tsx';

type Delivery = Schemas['ListedDelivery'];

/** Attempts that failed are in no event, and of reviews none at all. */
const ATTEMPTS_MS = 5_000;
const QUIET_MS = 20_000;
const ENDINGS = ['delivered', 'delivery_failed', 'decided', 'changed'];

const AT_ONCE = 4;

/** Sends several again, a few at a time; one that cannot be started does not keep the others. */
async function redeliverAll(all: Delivery[]) {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  for (let n = 0; n < all.length; n += AT_ONCE) {
    const some = all.slice(n, n + AT_ONCE).map(({ kind, itemId, n }) => redeliver(kind, itemId, n));
    outcomes.push(...(await Promise.allSettled(some)));
  }
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  return { started: all.length - failures.length, failed: failures.length, why: failures[0]?.reason };
}

const keyOf = ({ kind, itemId, n }: Delivery) => `${kind}/${itemId}/${n}`;

interface Props {
  state: Delivery['state'];
  wanted: { kind?: Delivery['kind']; queue?: string; host?: string };
}

/** Deliveries of one state over all items, newest first. */
export function DeliveryList({ state, wanted }: Props) {
  const t = texts.value.deliveries;
  const [keys, change] = useState<string[]>([]);
  const query = { ...wanted, state };
  const list = useList('/v1/deliveries', { query }, ({ type }) => ENDINGS.includes(type));
  const rows = list.data ?? [];
  useAgain(list.refresh, state === 'pending' && rows.length > 0 ? ATTEMPTS_MS : QUIET_MS);
  const picked = rows.filter((row) => keys.includes(keyOf(row)));
  const selected = mayAct('producer') && { keys, change };
  const again = async () => {
    const { started, failed, why } = await redeliverAll(picked);
    if (started > 0) toast(t.redeliveredMany(number(started)));
    if (failed > 0) toast(t.someFailed(number(failed), saidOf(why)), 'bad');
    change([]);
    list.refresh();
  };
  const actions = picked.length > 0 && (
    <Action
      label={t.redeliverMany(number(picked.length))}
      title={t.redeliverManyTitle}
      will={t.redeliverManyWill(number(picked.length))}
      run={again}
    />
  );
  return (
    <Listing
      title={t[state]}
      actions={actions}
      list={list}
      columns={columnsOf(state, selected, list.refresh)}
      rowKey={keyOf}
      empty={t.none}
    >
      {selected && <SelectAll shown={rows.map(keyOf)} {...selected} />}
    </Listing>
  );
}

function columnsOf(
  state: Delivery['state'],
  selected: Selection | false,
  refresh: () => void,
): (Column<Delivery> | false)[] {
  const { columns: c } = texts.value.deliveries;
  const { fields } = texts.value.items;
  return [
    { title: c.item, cell: ({ kind, itemId }) => <a href={pathOf(kind, itemId)}>{itemId}</a> },
    selected && selecting(selected, keyOf, ({ itemId }) => itemId),
    { title: c.type, cell: ({ type }) => <MessageType type={type} /> },
    { title: fields.queue, cell: ({ queue }) => queue ?? '–' },
    state !== 'delivered' && { title: c.cause, cell: (row) => <Cause delivery={row} /> },
    { title: fields.attempts, numeric: true, cell: ({ attempts }) => number(attempts) },
    state === 'pending' && { title: c.next, cell: (row) => <NextAttempt at={row.nextAttemptAt} /> },
    state !== 'pending' && { title: c.updated, cell: (row) => moment(row.updatedAt) },
    { title: c.url, cell: ({ url }) => <code class="delivery-url">{url}</code> },
    selected && { title: c.action, cell: (row) => <Redeliver {...row} refresh={refresh} /> },
  ];
}
