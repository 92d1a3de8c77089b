import type { ComponentChildren, ComponentProps } from 'preact';
import { useLocation, useRoute } from 'preact-iso';
import { api, data, type Schemas } from '../../api/client.ts';
import { useGet, useResource } from '../../api/resource.ts';
import { maySee, session } from '../../api/session.ts';
import { Action, DeleteButton } from '../../components/action.tsx';
import { Badge } from '../../components/badge.tsx';
import type { FieldSpec } from '../../components/form/spec.ts';
import { number } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { Pause, pauseQueue } from '../../components/pause.tsx';
import { toast } from '../../components/toasts.tsx';
import { changesPath, type ListKind } from '../../links.ts';
import { routes } from '../../routes.ts';
import { texts } from '../../texts/texts.ts';
import { Ways } from '../numbers/ways.tsx';
import { pathsIn } from './conditions.ts';
import { courtForm } from './court-form.ts';
import { SettingsEditor } from './editor.tsx';
import { AddGold } from './gold.tsx';
import { previewOf } from './preview.tsx';
import { queueForm, trialPart } from './queue-form.ts';
import { courtSettingsOf, queueSettingsOf, topicSettingsOf } from './settings-of.ts';
import { topicForm } from './topic-form.ts';

/** The settings of a queue, pausing it, and deleting it. */
export function QueueSettings() {
  const { queue = '' } = useRoute().params;
  const found = useGet('/v1/queues/{queue}', { path: { queue } });
  const ticket = useGet('/v1/tickets', { query: { queue, limit: 1 } }).data?.items[0];
  const pause = (paused: boolean) => pauseQueue(queue, paused);
  const actions = (
    <Actions name={queue} found={found} pause={pause} remove={removeQueue}>
      <AddGold queue={queue} />
    </Actions>
  );
  return (
    <Page title={titleOf('ticket', queue)} actions={actions}>
      <Back kind="ticket" name={queue} of={`/v1/queues/${queue}`} paused={found.data?.paused} />
      <SettingsEditor
        name={queue}
        parts={queueForm(texts.value, { known: pathsIn(ticket?.body), preview: previewOf })}
        trial={{ part: trialPart(texts.value), given: ticket && { ticket: sentOf(ticket) } }}
        of={queueSettingsOf}
        onSaved={found.refresh}
      />
    </Page>
  );
}

const sentOf = ({ body, priority, requires }: Schemas['Ticket']) => ({ body, priority, requires });

/** The same of a topic, whose pause is one of its settings. */
export function TopicSettings() {
  const { topic = '' } = useRoute().params;
  const found = useResource((signal) => topicSettingsOf.load(topic, signal), [topic]);
  const paused = found.data?.paused === true;
  const pause = async (wanted: boolean) =>
    topicSettingsOf.save(topic, { ...(await topicSettingsOf.load(topic)), paused: wanted });
  const seen = { ...found, data: found.data ? { paused } : undefined };
  return (
    <Page
      title={titleOf('job', topic)}
      actions={<Actions name={topic} found={seen} pause={pause} remove={removeTopic} />}
    >
      <Back kind="job" name={topic} of={`/v1/topics/${topic}`} paused={paused}>
        <a href={`/schedules?topic=${encodeURIComponent(topic)}`}>{texts.value.pages.schedules}</a>
      </Back>
      <SettingsEditor name={topic} parts={topicForm(texts.value)} of={topicSettingsOf} onSaved={found.refresh} />
    </Page>
  );
}

/** The settings of a court. */
export function CourtSettings() {
  const { court = '' } = useRoute().params;
  return (
    <Page title={titleOf('case', court)} actions={<AddJurors court={court} />}>
      <Back kind="case" name={court} of={`/v1/courts/${court}`} />
      <SettingsEditor name={court} parts={courtForm(texts.value)} of={courtSettingsOf} onSaved={() => {}} />
    </Page>
  );
}

/** A list of jurors as it comes from elsewhere. They are added to those of the court, or change them. */
function AddJurors({ court }: { court: string }) {
  const t = texts.value.courtSettings;
  const add = async ({ jurors }: { jurors: string[] }) => {
    const listed = jurors.map((line) => {
      const [id = '', person] = line.split(',').map((part) => part.trim());
      return { id, ...(person && { person }) };
    });
    const params = { path: { court } };
    const { total } = await data(api.PUT('/v1/courts/{court}/jurors', { params, body: { jurors: listed } }));
    toast(t.jurorsNow(number(total)));
  };
  const fields: FieldSpec[] = [{ kind: 'lines', name: 'jurors', said: t.jurorLines, empty: 'required' }];
  return <Action label={t.addJurors} fields={fields} run={add} />;
}

const titleOf = (kind: ListKind, name: string) => `${texts.value.numbers.queueOf[kind]} ${name}`;

const removeQueue = (queue: string) => data(api.DELETE('/v1/queues/{queue}', { params: { path: { queue } } }));
const removeTopic = (topic: string) => data(api.DELETE('/v1/topics/{topic}', { params: { path: { topic } } }));

interface BackProps {
  kind: ListKind;
  name: string;
  /** Path of these settings, as the admin log has it. */
  of: string;
  paused?: boolean | undefined;
  children?: ComponentChildren;
}

function Back({ kind, name, of, paused = false, children }: BackProps) {
  const t = texts.value;
  const who = session.value;
  return (
    <p class="row lead">
      <a href="/settings">{t.settings.back}</a>
      <Ways kind={kind} queue={name} at="settings" />
      {who && maySee(who, routes.adminLog) && <a href={changesPath(of)}>{t.adminLog.changes}</a>}
      {children}
      {paused && <Badge tone="warn">{t.common.paused}</Badge>}
    </p>
  );
}

interface ActionsProps extends ComponentProps<typeof Pause> {
  remove: (name: string) => Promise<unknown>;
  children?: ComponentChildren;
}

function Actions({ remove, children, ...paused }: ActionsProps) {
  const t = texts.value.settings;
  const { name, found } = paused;
  const { route } = useLocation();
  if (!found.data) return null;
  return (
    <>
      {children}
      <Pause {...paused} />
      <DeleteButton name={name} hint={t.deleteHint} run={() => remove(name)} onDone={() => route('/settings')} />
    </>
  );
}
