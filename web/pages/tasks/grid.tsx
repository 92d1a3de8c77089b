import { dateLong, number, timeOfDay, weekdayName } from '../../components/format.ts';
import { texts } from '../../texts/texts.ts';
import { keyOf } from './days.ts';
import type { Entry } from './occurrences.ts';

interface Props {
  caption: string;
  weeks: Date[][];
  /** Days of other months are less loud; null: all are the same. */
  month: number | null;
  days: ReadonlyMap<string, Entry[]>;
  chosen: string;
  onChoose: (day: string) => void;
}

const IN_MONTH = 3;
const IN_WEEK = 12;

/** Weeks as rows, weekdays as columns; a day is a button that shows its occurrences below. */
export function Grid({ caption, weeks, month, days, chosen, onChoose }: Props) {
  const most = weeks.length === 1 ? IN_WEEK : IN_MONTH;
  return (
    <table class="calendar">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {weeks[0]?.map((day) => (
            <th key={day.getDay()} scope="col">
              {weekdayName(day)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0] && keyOf(week[0])}>
            {week.map((day) => {
              const key = keyOf(day);
              const entries = days.get(key) ?? [];
              const isOther = month !== null && day.getMonth() !== month;
              return (
                <td key={key} class={isOther ? 'other' : ''}>
                  <DayButton day={day} n={entries.length} isChosen={key === chosen} onChoose={() => onChoose(key)} />
                  <Some entries={entries} most={most} />
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface DayProps {
  day: Date;
  n: number;
  isChosen: boolean;
  onChoose: () => void;
}

function DayButton({ day, n, isChosen, onChoose }: DayProps) {
  const t = texts.value.calendar;
  const isToday = keyOf(day) === keyOf(new Date());
  return (
    <button
      type="button"
      class="calendar-day"
      aria-pressed={isChosen}
      aria-current={isToday ? 'date' : undefined}
      onClick={onChoose}
    >
      <span aria-hidden="true">{day.getDate()}</span>
      {n > 0 && (
        <span class="calendar-count" aria-hidden="true">
          {number(n)}
        </span>
      )}
      <span class="visually-hidden">{`${dateLong(day)}: ${n === 0 ? t.none : t.count(number(n))}`}</span>
    </button>
  );
}

function Some({ entries, most }: { entries: Entry[]; most: number }) {
  const t = texts.value.calendar;
  if (entries.length === 0) return null;
  return (
    <ul class="calendar-some">
      {entries.slice(0, most).map(({ at, task, of: { state } }) => (
        <li key={`${task.id} ${at.getTime()}`} class={state}>
          <span class="muted">{timeOfDay(at)}</span> {task.id}
        </li>
      ))}
      {entries.length > most && <li class="muted">{t.more(number(entries.length - most))}</li>}
    </ul>
  );
}
