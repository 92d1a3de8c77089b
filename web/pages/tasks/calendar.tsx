import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useResource } from '../../api/resource.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Select } from '../../components/field.tsx';
import { Fold } from '../../components/fold.tsx';
import { Filters } from '../../components/form/filters.tsx';
import type { LeafSpec } from '../../components/form/spec.ts';
import { dateLong, monthName, number, timeOfDay } from '../../components/format.ts';
import { Button, Empty, Loaded, Page, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { taskPath, withQuery } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { dayOf, type Entry, keyOf, loadOccurrences, rangeOf, shifted, type View } from './occurrences.ts';
import { Tabs } from './tabs.tsx';

/** Seldom: each time it asks for the occurrences of all tasks. */
const REFRESH_MS = 20_000;
const LISTED = 200;

interface Shown {
  view: View;
  day: Date;
  executor: string | undefined;
}

const addressOf = ({ view, day, executor }: Shown) => withQuery('/tasks/calendar', { view, day: keyOf(day), executor });

/** When tasks are due: by the days of a month or a week, each occurrence with what has become of it. */
export function TaskCalendar() {
  const { pages, tasks: t } = texts.value;
  const { query } = useLocation();
  const shown: Shown = {
    view: query.view === 'week' ? 'week' : 'month',
    day: dayOf(query.day),
    executor: query.executor || undefined,
  };
  const fields: LeafSpec[] = [{ kind: 'text', name: 'executor', said: [t.executor, t.executorHint], empty: 'omit' }];
  return (
    <Page title={pages.taskCalendar}>
      <Tabs />
      <Filters key={JSON.stringify(query)} path="/tasks/calendar" fields={fields} keep={['view', 'day']} />
      <Calendar key={addressOf(shown)} shown={shown} />
    </Page>
  );
}

/** The days of a month or week on which something is due; the chosen one is open. */
function Calendar({ shown }: { shown: Shown }) {
  const t = texts.value.calendar;
  const { view, day, executor } = shown;
  const { first, last, ...range } = rangeOf(view, day);
  const found = useResource((signal) => loadOccurrences(range, executor, signal), [range.from, range.to, executor], {
    everyMs: REFRESH_MS,
  });
  const title = view === 'month' ? monthName(day) : t.week1(dateLong(first), dateLong(last));
  return (
    <Section title={title} actions={<Moves shown={shown} />}>
      <Loaded of={found}>
        {({ days, more }) => (
          <>
            {more && <p class="note warn">{t.tooMany}</p>}
            {days.size === 0 && <Empty>{t.nothing}</Empty>}
            {[...days].map(([key, entries]) => (
              <Day key={key} of={dayOf(key)} entries={entries} isOpen={days.size === 1 || key === keyOf(day)} />
            ))}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Moves({ shown }: { shown: Shown }) {
  const t = texts.value.calendar;
  const { route } = useLocation();
  const go = (to: Partial<Shown>) => route(addressOf({ ...shown, ...to }));
  const { view, day } = shown;
  const views = [['month', t.month] as const, ['week', t.week] as const];
  return (
    <>
      <Button does={t.previous} run={() => go({ day: shifted(view, day, -1) })} />
      <Button does={t.today} run={() => go({ day: dayOf(undefined) })} />
      <Button does={t.next} run={() => go({ day: shifted(view, day, 1) })} />
      <Select aria-label={t.view} options={views} value={view} set={(chosen) => go({ view: chosen as View })} />
    </>
  );
}

const TONES: Record<Entry['of']['state'], Tone> = {
  ...{ planned: 'neutral', delayed: 'neutral', due: 'info', completed: 'good' },
  ...{ cancelled: 'neutral', missed: 'warn', returned: 'warn' },
};

function Day({ of, entries, isOpen }: { of: Date; entries: Entry[]; isOpen: boolean }) {
  const { calendar: t, items } = texts.value;
  const c = t.columns;
  const [most, setMost] = useState(LISTED);
  const title = dateLong(of);
  const more = entries.length > most ? () => setMost(most + LISTED) : undefined;
  const columns: Column<Entry>[] = [
    { title: c.time, cell: ({ at }) => timeOfDay(at) },
    { title: items.kinds.task, cell: ({ task: { id } }) => <a href={taskPath(id)}>{id}</a> },
    { title: items.fields.state, cell: ({ of: { state } }) => <Badge tone={TONES[state]}>{t.states[state]}</Badge> },
    { title: items.fields.executor, cell: ({ task }) => task.executor },
    { title: c.left, numeric: true, cell: (e) => number(e.of.stock) },
    { title: c.out, numeric: true, cell: (e) => number(e.of.dispatched) },
    { title: items.fields.completed, numeric: true, cell: (e) => number(e.of.completed) },
  ];
  return (
    <Fold
      look="tasks-day"
      head="bar"
      open={isOpen}
      summary={
        <>
          {title} <span class="muted">{t.count(number(entries.length))}</span>
        </>
      }
    >
      {() => (
        <Table
          caption={title}
          columns={columns}
          rows={entries.slice(0, most)}
          more={more}
          rowKey={({ task, of: { occurrence } }) => `${task.id}/${occurrence}`}
        />
      )}
    </Fold>
  );
}
