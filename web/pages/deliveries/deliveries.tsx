import { useLocation } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { among, Filters, word } from '../../components/form/filters.tsx';
import { picked } from '../../components/form/spec.ts';
import { Page } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { DeliveryList } from './list.tsx';

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
