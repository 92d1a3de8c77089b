import type { Schemas } from '../../api/client.ts';
import { moment, number, span } from '../../components/format.ts';
import { texts } from '../../texts/texts.ts';

interface Props {
  ticket: Schemas['HandedTicket'];
  settings: Schemas['Queue'];
}

/** Why the reviewer has this ticket and not another, by what orders its queue. */
export function Why({ ticket, settings }: Props) {
  const { title } = texts.value.desk.mine;
  return (
    <details class="desk-why">
      <summary>{title}</summary>
      <ul>
        {reasonsFor({ ticket, settings }).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  );
}

function reasonsFor({ ticket, settings: { ageing, reclaimedFirst, escalations } }: Props): string[] {
  const t = texts.value.desk.mine;
  const { resumed, attempts, requires, priority, availableAt } = ticket;
  const before = attempts - 1;
  const found: (string | false | undefined)[] = [
    resumed && t.resumed,
    requires.length > 0 && t.requires(requires.join(', ')),
    before > 0 && reclaimedFirst && t.reclaimed,
    before > 0 && t.before(number(before)),
    ageing ? t.byAge(span(ageing.secondsPerLevel)) : t.byPriority,
    (escalations?.length ?? 0) > 0 && t.escalates,
    t.its(number(priority), moment(availableAt)),
  ];
  return found.filter((line) => typeof line === 'string');
}
