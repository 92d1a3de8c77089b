import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { number } from '../../components/format.ts';
import { texts } from '../../texts/texts.ts';
import { decisionForm } from './decision.tsx';
import { wordsOf } from './words.ts';

interface Props {
  ticket: Schemas['HandedTicket'];
  form: Schemas['Queue']['form'];
  reviewer: string;
}

/** What else there is of the ticket's subject, in a line. */
export function Subject({ ticket: { id, subject }, form, reviewer }: Props) {
  const t = texts.value.desk.subject;
  const context = useGet('/v1/tickets/{id}/context', { path: { id }, query: { reviewer } });
  if (!context.data) return null;
  const { open, decided, last } = context.data;
  const words = last.map(({ decision }) => wordsOf(decisionForm(form), decision));
  return (
    <p class="desk-subject">
      <span class="muted">{t.title}</span> <bdi>{subject}</bdi>
      <span class="muted">
        {' · '}
        {t.others(number(open), number(decided))}
        {words.length > 0 && ` · ${t.last(words.join(', '))}`}
      </span>
    </p>
  );
}
