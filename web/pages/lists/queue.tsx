import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { api, data, type Schemas } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { count, type FieldSpec, seconds } from '../../components/form/spec.ts';
import { number } from '../../components/format.ts';
import { useShortcuts } from '../../components/keys.ts';
import { ForbiddenPage, NotFound, Page, Section } from '../../components/page.tsx';
import { PauseTickets } from '../../components/pause.tsx';
import { isListKind, type ListKind, queuePath, READERS, withQuery } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { giveCommand } from '../item/job.tsx';
import { Ways } from '../numbers/ways.tsx';
import { actsOn, Bulk } from './bulk.tsx';
import { Chips, FilterForm } from './filter-form.tsx';
import { filterIn, STATES } from './filters.ts';
import { ItemList } from './list.tsx';
import { loadStats } from './rows.ts';
import { DownloadCsv } from './views.tsx';

/** All tickets of a queue, jobs of a topic or cases of a court. */
export function Queue() {
  const { params } = useRoute();
  const { kind, queue = '' } = params;
  if (!isListKind(kind)) return <NotFound />;
  if (!mayAct(...READERS[kind])) return <ForbiddenPage />;
  return <OneQueue key={`${kind}/${queue}`} kind={kind} queue={queue} />;
}

function OneQueue({ kind, queue }: { kind: ListKind; queue: string }) {
  const { query, route } = useLocation();
  const t = texts.value.lists;
  const base = queuePath(kind, queue);
  const filter = filterIn(query, kind);
  const [ids, setIds] = useState<string[]>([]);
  const acts = actsOn(kind);
  const selected = { keys: ids, change: setIds };
  useShortcuts([{ key: 'n', does: t.first, run: () => route(withQuery(base, { ...filter, cursor: '' })) }]);
  const actions = (
    <>
      <Ways kind={kind} queue={queue} at="list" />
      {kind === 'ticket' && <PauseTickets queue={queue} />}
    </>
  );
  return (
    <Page title={`${texts.value.numbers.queueOf[kind]} ${queue}`} actions={actions}>
      <States kind={kind} queue={queue} chosen={filter.state} />
      <Section
        title={texts.value.deliveries.kinds[kind]}
        actions={
          <>
            {kind === 'ticket' && <DownloadCsv filter={{ ...filter, queue }} />}
            {mayAct('producer') && <Add kind={kind} queue={queue} />}
            {acts.map((act) => (
              <Bulk key={act.name} {...{ act, queue, filter, ids }} onDone={() => setIds([])} />
            ))}
          </>
        }
      >
        <FilterForm kind={kind} filter={filter} base={base} fixedQueue />
        <Chips kind={kind} filter={filter} base={base} fixedQueue />
        <ItemList
          kind={kind}
          filter={{ ...filter, queue }}
          base={base}
          fixedQueue
          {...(acts.length > 0 && { selected })}
        />
      </Section>
    </Page>
  );
}

const GAP_MS = 1_000;

/** How many there are in each state, as far as someone keeps count; each leads to its list. */
function States({ kind, queue, chosen }: { kind: ListKind; queue: string; chosen: string | undefined }) {
  const t = texts.value;
  const stats = useResource((signal) => loadStats(kind, queue, signal), [kind, queue], {
    on: (event) => event.kind === kind,
    gapMs: GAP_MS,
  });
  const counts = STATES[kind].map((state) => [state, stats.data?.[state]] as const);
  const known = counts.filter((entry): entry is readonly [string, number] => typeof entry[1] === 'number');
  if (known.length === 0) return null;
  return (
    <Section title={t.lists.byState}>
      <ul class="list-states row inset plain">
        {known.map(([state, n]) => (
          <li key={state}>
            <a href={withQuery(queuePath(kind, queue), { state })} aria-current={state === chosen ? 'true' : undefined}>
              {t.items.states[state]} <strong>{number(n)}</strong>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Adds a ticket, job or case by hand. @throws CallError */
const ADDERS = {
  ticket: (queue: string, body: Schemas['NewTicket']) =>
    data(api.POST('/v1/queues/{queue}/tickets', { params: { path: { queue } }, body })),
  case: (court: string, body: Schemas['NewCase']) =>
    data(api.POST('/v1/courts/{court}/cases', { params: { path: { court } }, body })),
  job: (topic: string, body: object) => giveCommand({ command: 'add', topic, ...body }),
} satisfies Record<ListKind, unknown>;

/** A button that asks for an item, and adds it. */
function Add({ kind, queue }: { kind: ListKind; queue: string }) {
  const { lists: t, items, taskLists, schedules } = texts.value;
  const id = { kind: 'text', name: 'id' } as const;
  const body: FieldSpec = { kind: 'json', name: 'body', said: t.addedBody, empty: 'required' };
  const priority = [
    items.fields.priority,
    kind === 'job' ? schedules.priority[1] : items.actions.priorityHint,
  ] as const;
  const own: Record<ListKind, FieldSpec[]> = {
    ticket: [
      { ...id, said: taskLists.templateId, empty: 'omit' },
      { ...count('priority', priority, 0), empty: 'omit' },
    ],
    job: [
      { ...id, said: [t.id, ''], empty: 'required' },
      { ...count('priority', priority, 1024), empty: 'omit' },
      seconds('TTR', schedules.ttr, 60),
      seconds('delay', [items.states.delayed ?? '', ''], 0),
    ],
    case: [{ ...id, said: taskLists.templateId, empty: 'omit' }],
  };
  const add = (given: Schemas['NewTicket'] & Schemas['NewCase']) => ADDERS[kind](queue, given);
  return <Action label={t.add[kind]} fields={[body, ...own[kind]]} run={add} done={t.isAdded} />;
}
