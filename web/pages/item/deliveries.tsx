import { useAgain } from '../../api/again.ts';
import { api, data, type Schemas } from '../../api/client.ts';
import type { LiveEvent } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { mayAct } from '../../api/session.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Empty, Loaded } from '../../components/feedback.tsx';
import { moment, number } from '../../components/format.ts';
import { More } from '../../components/more.tsx';
import { Section } from '../../components/page.tsx';
import { State } from '../../components/state.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import './deliveries.css';

type Delivery = Schemas['Delivery'];
/** What has deliveries, by the names that the API gives kinds there. */
type DeliveredKind = Schemas['ListedDelivery']['kind'];

interface Props {
  kind: string;
  id: string;
  load: (
    id: string,
    cursor: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ items: Delivery[]; nextCursor: string | null }>;
  on: (event: LiveEvent) => boolean;
}

/** Sends it again. @throws CallError */
export const redeliver = (kind: DeliveredKind, itemId: string, n: number) =>
  data(api.POST('/v1/deliveries/{kind}/{itemId}/{n}/redeliver', { params: { path: { kind, itemId, n } } }));

/** Attempts are in no event but the last. */
const ATTEMPTS_MS = 5_000;

/** What was sent to the callback of an item or a review, with what outcome, and what comes next. */
export function Deliveries({ kind, id, load, on }: Props) {
  const t = texts.value.deliveries;
  const list = usePages((cursor, signal) => load(id, cursor, signal), [id], on);
  const isUnderWay = list.data?.some(({ state }) => state === 'pending') ?? false;
  useAgain(list.refresh, isUnderWay ? ATTEMPTS_MS : null);
  return (
    <Section title={t.title}>
      <Loaded of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t.noneHere}</Empty>
          ) : (
            <Table
              caption={t.title}
              columns={columnsOf(kind as DeliveredKind, id, list.refresh)}
              rows={rows}
              rowKey={({ n }) => String(n)}
              footer={<More more={list.more} of={t.title} />}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

function columnsOf(kind: DeliveredKind, id: string, refresh: () => void): Column<Delivery>[] {
  const { columns: c, ...t } = texts.value.deliveries;
  const columns: Column<Delivery>[] = [
    { id: 'type', title: c.type, cell: ({ type }) => <MessageType type={type} /> },
    { id: 'state', title: c.state, cell: ({ state }) => <State state={state} /> },
    { id: 'cause', title: c.cause, cell: (delivery) => <Cause delivery={delivery} /> },
    { id: 'attempts', title: c.attempts, numeric: true, minor: true, cell: ({ attempts }) => number(attempts) },
    { id: 'next', title: c.next, cell: ({ nextAttemptAt: at }) => <NextAttempt at={at} /> },
    { id: 'url', title: c.url, minor: true, cell: ({ url }) => <code>{url}</code> },
    { id: 'version', title: c.version, numeric: true, minor: true, cell: ({ version }) => number(version) },
  ];
  if (!mayAct('producer')) return columns;
  const again = ({ n, url }: Delivery) => (
    <ConfirmButton
      label={t.redeliver}
      title={t.redeliverTitle}
      run={async () => {
        await redeliver(kind, id, n);
        toast(t.redelivered);
        refresh();
      }}
    >
      <p>{t.redeliverWill(url)}</p>
    </ConfirmButton>
  );
  return [...columns, { id: 'again', title: c.action, cell: again }];
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
  return <>{Date.parse(at) < Date.now() ? texts.value.deliveries.due : moment(at)}</>;
}
