import type { Schemas } from '../../api/client.ts';
import { Body } from '../../components/body/body.tsx';
import { moment, number } from '../../components/format.ts';
import { LeaseTime } from '../../components/lease.tsx';
import { texts } from '../../texts/texts.ts';
import type { Held } from './shelf.ts';
import { Why } from './why.tsx';

interface Props {
  held: Held;
  settings: Schemas['Queue'];
  /** Whether images are shown. */
  revealed: boolean;
}

/** What the reviewer decides about. */
export function TicketView({ held, settings, revealed }: Props) {
  const t = texts.value.desk;
  const { ticket } = held;
  const facts: [string, string | null][] = [
    [t.meta.priority, number(ticket.priority)],
    [t.meta.attempts, number(ticket.attempts)],
    [t.meta.waiting, moment(ticket.createdAt)],
    [t.meta.deadline, ticket.deadlineAt && moment(ticket.deadlineAt)],
    [t.meta.requires, ticket.requires.join(', ') || null],
  ];
  return (
    <section class="panel desk-ticket" aria-labelledby="desk-ticket">
      <header class="panel-head">
        <h2 id="desk-ticket" tabIndex={-1}>
          {t.ticket(ticket.id)}
        </h2>
        <LeaseTime expiresMs={held.expiresMs} />
      </header>
      {held.changed && (
        <p class="note warn" role="status">
          {t.changed}
        </p>
      )}
      <dl class="desk-facts">
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      <Why ticket={ticket} settings={settings} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the arrow keys */}
      <section class="desk-body" aria-label={t.content} tabIndex={0}>
        <Body value={ticket.body} revealed={revealed} />
      </section>
    </section>
  );
}
