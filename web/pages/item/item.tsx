import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { mayAct } from '../../api/session.ts';
import { State } from '../../components/badge.tsx';
import { number } from '../../components/format.ts';
import { ForbiddenPage, linked, NotFound, Page } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { type ItemKind, isItemKind, READERS, taskPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { CaseParts } from './case.tsx';
import { Deliveries } from './deliveries.tsx';
import { ItemView, JsonSection, Missing } from './item-view.tsx';
import { JobParts } from './job.tsx';
import { loadOccurrence, partsOf } from './sources.ts';
import { TicketParts } from './ticket.tsx';
import { Timeline } from './timeline.tsx';
import { Workflow } from './workflow.tsx';
import './item.css';

/** One ticket, job, case or occurrence of a task: all that is known of it, and what may be done with it. */
export function Item() {
  const { params } = useRoute();
  const { kind, id = '' } = params;
  if (!isItemKind(kind)) return <NotFound />;
  if (!mayAct(...READERS[kind])) return <ForbiddenPage />;
  // another item is another page: nothing of the one before stays
  return <OneItem key={`${kind}/${id}`} kind={kind} id={id} />;
}

function OneItem({ kind, id }: { kind: ItemKind; id: string }) {
  const t = texts.value;
  const Parts = PARTS[kind];
  const [isMissing, setMissing] = useState(false);
  return (
    <Page title={t.items.title(t.items.kinds[kind], id)}>
      <div class="item-parts">
        <div>
          <Missing.Provider value={setMissing}>
            <Parts id={id} />
          </Missing.Provider>
          {!isMissing && kind !== 'job' && <Deliveries kind={kind} id={id} />}
        </div>
        {!isMissing && (
          <div>
            <Timeline kind={kind} id={id} />
            <Workflow kind={kind} id={id} />
          </div>
        )}
      </div>
    </Page>
  );
}

const PARTS = {
  ticket: TicketParts,
  job: JobParts,
  case: CaseParts,
  occurrence: OccurrenceParts,
} satisfies Record<ItemKind, (props: { id: string }) => unknown>;

/** One occurrence of a task: how much of it was dispatched and completed. */
function OccurrenceParts({ id }: { id: string }) {
  const { items: t, taskLists } = texts.value;
  const f = t.fields;
  return (
    <ItemView
      {...{ kind: 'occurrence', id }}
      load={async (signal) => {
        const loaded = await loadOccurrence(id, signal);
        return { ...loaded, erased: loaded.task.erased };
      }}
      facts={({ task, found }) => [
        !found && [f.occurrence, t.noOccurrence(partsOf(id).occurrence)],
        found && [f.state, <State key="state" state={found.state} />],
        linked(t.kinds.task, taskPath(task.id), task.id),
        [f.executor, task.executor],
        found && [f.occurrence, <When key="at" at={found.occurrence} />],
        found && [f.stock, number(found.stock)],
        found && [f.dispatched, number(found.dispatched)],
        found && [f.completed, number(found.completed)],
      ]}
    >
      {({ task, erased }) => <JsonSection title={taskLists.params[0]} value={task.params} erased={erased} />}
    </ItemView>
  );
}
