import { get, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useGet, useResource } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { duration, number } from '../../components/format.ts';
import { Facts, Loaded, Section } from '../../components/page.tsx';
import { PauseTickets } from '../../components/pause.tsx';
import { Table } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { itemPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { Moves } from '../item/ticket-actions.tsx';
import { PersonLink } from './people.tsx';
import { timeOf } from './wanted.ts';

const OFTEN_MS = 10_000;
const HOUR_SECONDS = 3_600;

/** Who works in a queue now, on what and for how long, and when nothing waits there any more. */
export function Now({ queue }: { queue: string }) {
  const { numbers, lists, items, schedules } = texts.value;
  const t = numbers.now;
  const held = useGet('/v1/tickets', { query: { queue, state: 'held', limit: 500 } }, { everyMs: OFTEN_MS });
  return (
    <Section title={t.title} actions={<PauseTickets queue={queue} />}>
      <Forecast queue={queue} />
      <Loaded of={held}>
        {({ items: rows }) => (
          <Table
            caption={t.title}
            rows={rows}
            empty={t.nobody}
            columns={[
              {
                title: lists.reviewer,
                cell: ({ lease }) => <PersonLink queue={queue} person={lease?.reviewer ?? ''} />,
              },
              { title: items.kinds.ticket, cell: ({ id }) => <a href={itemPath('ticket', id)}>{id}</a> },
              { title: t.since, cell: ({ lease }) => lease && <When at={lease.grantedAt} /> },
              { title: items.fields.leaseUntil, cell: ({ lease }) => lease && <When at={lease.expiresAt} /> },
              mayAct('producer') && {
                title: schedules.columns.actions,
                cell: (ticket) => (
                  <div class="row">
                    <Moves ticket={ticket} refresh={held.refresh} about={ticket.id} />
                  </div>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

/** By what came and what was ended in the last hour. */
function Forecast({ queue }: { queue: string }) {
  const t = texts.value.numbers.now;
  const hour = useResource(
    (signal) =>
      Promise.all([
        get('/v1/queues/{queue}/stats', { path: { queue } }, signal),
        get('/v1/figures', { query: { kind: 'ticket', queue, ...timeOf('hour', serverNow()) } }, signal),
      ]),
    [queue],
    { everyMs: 6 * OFTEN_MS },
  );
  return (
    <Loaded of={hour}>
      {([{ waiting }, { series }]) => {
        const came = sum(series.added);
        const ended = sum(series.settled) + sum(series.invalidated) + sum(series.expired) + sum(series.dead);
        return (
          <Facts
            facts={[
              [texts.value.items.states.waiting ?? '', number(waiting)],
              [texts.value.numbers.ranges.hour, t.cameAndWent(number(came), number(ended))],
              waiting > 0 && [
                t.forecast,
                ended > came ? t.emptyIn(duration((waiting / (ended - came)) * HOUR_SECONDS)) : t.grows,
              ],
            ]}
          />
        );
      }}
    </Loaded>
  );
}

const sum = (values: Schemas['Figures']['series']['added']) => values.reduce<number>((all, n) => all + (n ?? 0), 0);
