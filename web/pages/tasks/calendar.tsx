import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useResource } from '../../api/resource.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Empty, Loaded } from '../../components/feedback.tsx';
import { Filters } from '../../components/form/filters.tsx';
import type { LeafSpec } from '../../components/form/spec.ts';
import { dateLong, monthName, number, timeOfDay } from '../../components/format.ts';
import { More } from '../../components/more.tsx';
import { Page, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import './calendar.css';
import { dayOf, keyOf, rangeOf, shifted, type View, weeksOf } from './days.ts';
import { Grid } from './grid.tsx';
import { type Entry, loadOccurrences } from './occurrences.ts';
import { Tabs } from './tabs.tsx';

/** Seldom: each time it asks for the occurrences of all tasks. */
const REFRESH_MS = 20_000;
const LISTED = 200;

interface Shown {
  view: View;
  day: Date;
  executor: string | undefined;
}

const addressOf = ({ view, day, executor }: Shown) => {
  const query = new URLSearchParams({ view, day: keyOf(day), ...(executor && { executor }) });
  return `/tasks/calendar?${query}`;
};

/** When tasks are due: a month or a week, and each occurrence of a day with what has become of it. */
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

function Calendar({ shown }: { shown: Shown }) {
  const t = texts.value.calendar;
  const { view, day, executor } = shown;
  const weeks = weeksOf(view, day);
  const range = rangeOf(weeks);
  const [chosen, setChosen] = useState(keyOf(day));
  const found = useResource((signal) => loadOccurrences(range, executor, signal), [range.from, range.to, executor], {
    everyMs: REFRESH_MS,
  });
  const [first, last] = [weeks[0]?.[0] ?? day, weeks.at(-1)?.at(-1) ?? day];
  const title = view === 'month' ? monthName(day) : t.week1(dateLong(first), dateLong(last));
  return (
    <>
      <Section title={title} actions={<Moves shown={shown} />}>
        <Loaded of={found}>
          {({ days, more }) => (
            <>
              {more && <p class="note warn">{t.tooMany}</p>}
              <Grid
                caption={title}
                weeks={weeks}
                month={view === 'month' ? day.getMonth() : null}
                days={days}
                {...{ chosen, onChoose: setChosen }}
              />
            </>
          )}
        </Loaded>
      </Section>
      {found.data && <Day key={chosen} of={dayOf(chosen)} entries={found.data.days.get(chosen) ?? []} />}
    </>
  );
}

function Moves({ shown }: { shown: Shown }) {
  const t = texts.value.calendar;
  const { route } = useLocation();
  const go = (to: Partial<Shown>) => route(addressOf({ ...shown, ...to }));
  const { view, day } = shown;
  return (
    <>
      <button type="button" onClick={() => go({ day: shifted(view, day, -1) })}>
        {t.previous}
      </button>
      <button type="button" onClick={() => go({ day: dayOf(undefined) })}>
        {t.today}
      </button>
      <button type="button" onClick={() => go({ day: shifted(view, day, 1) })}>
        {t.next}
      </button>
      <select aria-label={t.view} value={view} onChange={(event) => go({ view: event.currentTarget.value as View })}>
        <option value="month">{t.month}</option>
        <option value="week">{t.week}</option>
      </select>
    </>
  );
}

const TONES: Record<Entry['of']['state'], Tone> = {
  ...{ planned: 'neutral', delayed: 'neutral', due: 'info', completed: 'good' },
  ...{ cancelled: 'neutral', missed: 'warn', returned: 'warn' },
};

function Day({ of, entries }: { of: Date; entries: Entry[] }) {
  const { calendar: t, common } = texts.value;
  const c = t.columns;
  const title = t.ofDay(dateLong(of));
  const [most, setMost] = useState(LISTED);
  const more = entries.length > most ? () => setMost(most + LISTED) : undefined;
  const columns: Column<Entry>[] = [
    { id: 'time', title: c.time, cell: ({ at }) => timeOfDay(at) },
    {
      id: 'task',
      title: c.task,
      cell: ({ task: { id } }) => <a href={`/tasks/edit/${encodeURIComponent(id)}`}>{id}</a>,
    },
    {
      id: 'state',
      title: common.state,
      cell: ({ of: { state } }) => <Badge tone={TONES[state]}>{t.states[state]}</Badge>,
    },
    { id: 'executor', title: c.executor, cell: ({ task }) => task.executor },
    { id: 'left', title: c.left, numeric: true, cell: (e) => number(e.of.stock) },
    { id: 'out', title: c.out, numeric: true, cell: (e) => number(e.of.dispatched) },
    { id: 'done', title: c.done, numeric: true, cell: (e) => number(e.of.completed) },
  ];
  return (
    <Section title={title}>
      {entries.length === 0 ? (
        <Empty>{t.nothing}</Empty>
      ) : (
        <Table
          caption={title}
          columns={columns}
          rows={entries.slice(0, most)}
          footer={<More more={more} of={title} />}
          rowKey={({ task, of: { occurrence } }) => `${task.id}/${occurrence}`}
        />
      )}
    </Section>
  );
}
