import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { mayAct } from '../../api/session.ts';
import { ForbiddenPage, NotFound, Page } from '../../components/page.tsx';
import { type ItemKind, isItemKind, READERS } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { CaseParts } from './case.tsx';
import { Deliveries } from './deliveries.tsx';
import './item.css';
import { Missing } from './item-view.tsx';
import { JobParts } from './job.tsx';
import { OccurrenceParts } from './task.tsx';
import { TicketParts } from './ticket.tsx';
import { Timeline } from './timeline.tsx';
import { Workflow } from './workflow.tsx';

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
