import { State } from '../../components/badge.tsx';
import { number } from '../../components/format.ts';
import { linked } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { taskPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { ItemView, JsonSection } from './item-view.tsx';
import { loadOccurrence, partsOf } from './sources.ts';

/** One occurrence of a task: how much of it was dispatched and completed. */
export function OccurrenceParts({ id }: { id: string }) {
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
