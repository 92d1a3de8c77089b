import { useLater } from '../../api/again.ts';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { State } from '../../components/badge.tsx';
import { Raw } from '../../components/fold.tsx';
import { Facts, Loaded, Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { texts } from '../../texts/texts.ts';
import { isAbout, type PartKind, placeOf } from './sources.ts';

/** A workflow is a moment behind its item, and no event tells when it has followed. */
const BEHIND_MS = [1_500, 5_000];

/** What the item's workflow itself says, and where Temporal shows it. */
export function Workflow({ kind, id }: { kind: PartKind; id: string }) {
  const t = texts.value;
  const { at, path } = placeOf(kind, id, 'workflow');
  const on = isAbout(kind, id);
  const workflow = useGet(at, { path }, { on });
  useLater(workflow.refresh, on, BEHIND_MS);
  const ui = workflow.data?.uiUrl;
  const link = ui && (
    <a href={ui} target="_blank" rel="noreferrer">
      {t.items.temporalUi} <span class="visually-hidden">({t.common.openInNewTab})</span>
    </a>
  );
  return (
    <Section title={t.form.workflow[0]} actions={link}>
      <Loaded of={workflow}>{(answer) => <Answer answer={answer} />}</Loaded>
    </Section>
  );
}

function Answer({ answer: { workflowId, runId, status, snapshot } }: { answer: Schemas['TicketWorkflow'] }) {
  const t = texts.value.items;
  const { version, state, wakeAt } = snapshot ?? { version: 0, state: '', wakeAt: null };
  return (
    <>
      <Facts
        facts={[
          [t.workflowStatus, t.workflowStatuses[status] ?? t.states[status] ?? status],
          snapshot !== null && [t.workflowState, <State key="state" state={state} />],
          snapshot !== null && [t.version, version],
          wakeAt !== null && [t.wakeAt, <When key="at" at={wakeAt} />],
          [t.workflowId, <code key="id">{workflowId}</code>],
          runId !== null && [t.runId, <code key="run">{runId}</code>],
        ]}
      />
      {snapshot !== null && (
        <div class="inset">
          <Raw value={snapshot} />
        </div>
      )}
    </>
  );
}
