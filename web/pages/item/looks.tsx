import type { ComponentChildren } from 'preact';
import { api, data, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { State } from '../../components/badge.tsx';
import { among } from '../../components/form/filters.tsx';
import { type FieldSpec, type Given, picked } from '../../components/form/spec.ts';
import { Empty, Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { itemPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { decisionField, decisionForm } from '../desk/decision.tsx';
import { wordsOf } from '../desk/schema.ts';
import { JsonSection } from './item-view.tsx';

type Ticket = Schemas['Ticket'];

interface Props {
  ticket: Ticket;
  refresh: () => void;
}

/** A decision in the words of its queue's form, its second looks, what counts now, and asking for one; of a look, what it is about. */
export function Looks({ ticket, refresh }: Props) {
  const { queue, of, looks, standing, erased } = ticket;
  const settings = useGet('/v1/queues/{queue}', { path: { queue } });
  const form = decisionForm(settings.data?.form);
  const words = settings.data?.form ? wordsOf(form, ticket.decision) : undefined;
  return (
    <>
      {ticket.state === 'decided' && (
        <JsonSection title={texts.value.items.decision} value={ticket.decision} {...{ words, erased }} />
      )}
      <LooksSection
        {...{ kind: 'ticket', of, looks }}
        standing={erased ? null : standing && { ...standing, said: wordsOf(form, standing.decision) }}
        actions={!of && !erased && settings.data && <Ask {...{ ticket, refresh }} form={settings.data.form} />}
      />
    </>
  );
}

interface SectionProps extends Pick<Ticket, 'of' | 'looks'> {
  kind: 'ticket' | 'case';
  /** What counts now, in words; `from`: another item in which that was found. */
  standing: { said: string; by: string; at: string; from?: string | undefined } | null;
  /** Buttons that ask for a look. */
  actions: ComponentChildren;
}

/** The second looks at a decision and what counts now; of a look, what it is about. */
export function LooksSection({ kind, of, looks, standing, actions }: SectionProps) {
  const t = texts.value.items.looks;
  const link = (id: string) => <a href={itemPath(kind, id)}>{id}</a>;
  return (
    <Section title={texts.value.queueSettings.second[0]} actions={actions}>
      {!of && looks.length === 0 && <Empty>{t.none}</Empty>}
      {(of || looks.length > 0) && (
        <div class="panel-body">
          <ul class="reasons">
            {of && (
              <li>
                {t.of(t.causes[of.cause])} {link(of.id)}
              </li>
            )}
            {looks.map(({ id: look, causes, outcome, state }) => (
              <li key={look}>
                {causes.map((cause) => t.causes[cause]).join(', ')} {link(look)}{' '}
                {outcome ? t.outcomes[outcome] : <State state={state} />}
              </li>
            ))}
            {standing && looks.length > 0 && (
              <li>
                {t.stands} <strong>{standing.said}</strong> · <bdi>{standing.by}</bdi> · <When at={standing.at} />
                {standing.from && <> · {link(standing.from)}</>}
              </li>
            )}
          </ul>
        </div>
      )}
    </Section>
  );
}

function Ask({ ticket: { id }, refresh, form: schema }: Props & { form: Schemas['Queue']['form'] }) {
  const { looks: t, fields } = texts.value.items;
  const { field: verdict, decisionIn } = decisionField(schema);
  const reason: FieldSpec = { kind: 'text', name: 'reason', said: [fields.reason, t.reasonHint], empty: 'omit' };
  const causes = among('cause', t.cause, picked(['check', 'appeal'], t.causes));
  const send = ({ cause = 'overturn', decision: filled, ...rest }: Given) => {
    const decided = filled ? { decision: decisionIn(filled) } : {};
    const body = { ...rest, cause, ...decided } as Schemas['AskForLook'];
    return data(api.POST('/v1/tickets/{id}/looks', { params: { path: { id } }, body }));
  };
  const action = { run: send, onDone: refresh };
  return (
    <>
      {mayAct('producer') && <Action label={t.ask} fields={[causes, reason]} {...action} done={t.asked} />}
      {mayAct('supervisor') && <Action label={t.overturn} fields={[verdict, reason]} {...action} done={t.overturned} />}
    </>
  );
}
