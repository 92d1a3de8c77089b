import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useAgain } from '../../api/again.ts';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { among, Filters, word } from '../../components/form/filters.tsx';
import { picked } from '../../components/form/spec.ts';
import { moment, number } from '../../components/format.ts';
import { Page, saidOf } from '../../components/page.tsx';
import { SelectAll, type Selection, selecting } from '../../components/selection.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import { pathOf } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { Cause, MessageType, NextAttempt, Redeliver, redeliver } from '../item/deliveries.tsx';

/** What the page can show: what is not delivered in two lists, or one state. */
const SHOWN = ['undelivered', 'failed', 'pending', 'delivered'] as const;
/** What has deliveries of its own; jobs are pushed. */
const KINDS = ['ticket', 'case', 'task', 'review'] as const satisfies Schemas['ListedDelivery']['kind'][];

/** As it stands in the address. */
const filterIn = ({ state, kind, queue, host }: Record<string, string>) => ({
  ...{ queue, host, kind: KINDS.find((one) => one === kind) },
  state: SHOWN.find((one) => one === state) ?? 'undelivered',
});

/** Deliveries of all items: what is pending, what has failed, and why; sent again one by one or several at once. */
export function Deliveries() {
  const { query } = useLocation();
  const t = texts.value.deliveries;
  const wanted = filterIn(query);
  const states = wanted.state === 'undelivered' ? (['failed', 'pending'] as const) : ([wanted.state] as const);
  return (
    <Page title={texts.value.pages.deliveries}>
      <p class="muted lead">{t.lead}</p>
      <Filters
        key={JSON.stringify(wanted)}
        path="/deliveries"
        fields={[
          among(
            'state',
            texts.value.items.fields.state,
            SHOWN.map((one) => [one, t[one]] as const),
          ),
          among('kind', texts.value.lists.kind, [['', t.allKinds], ...picked(KINDS, t.kinds)]),
          word('queue', t.queue),
          word('host', t.host, { hint: t.hostHint }),
        ]}
        given={{ ...wanted }}
        defaults={{ state: SHOWN[0] }}
      />
      {states.map((state) => (
        <DeliveryList key={state} state={state} wanted={wanted} />
      ))}
    </Page>
  );
}

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
function DeliveryList({ state, wanted }: Props) {
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
