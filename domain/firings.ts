import { cronNumbers } from '../contract/cron.ts';

/** More than all days until a leap day falls on a weekday five times. */
const MOST_DAYS = 60_000;
const DAY_MS = 86_400_000;

interface Rhythm {
  every_seconds: number | null;
  cron: string | null;
  timezone: string;
}

/**
 * The next firings of a periodic job: every so many seconds since 1970, or when clocks of the zone show such a time. A time that
 * they skip is left out, as Temporal leaves it out. Around an hour that they show twice Temporal fires otherwise: later, or not
 * at all (docs/guides/jobs.md).
 * @returns null where the expression is one that only Temporal reads, which earlier releases accepted
 */
export function nextFirings({ every_seconds, cron, timezone }: Rhythm, from: Date, count: number): Date[] | null {
  if (cron === null) {
    const everyMs = (every_seconds ?? 1) * 1000;
    const first = (Math.floor(from.getTime() / everyMs) + 1) * everyMs;
    return Array.from({ length: count }, (_, n) => new Date(first + n * everyMs));
  }
  const numbers = cronNumbers(cron);
  if (!numbers) return null;
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = numbers.map((some) =>
    [...new Set(some)].sort((a, b) => a - b),
  );
  const shown = clockOf(timezone);
  const found: Date[] = [];
  const today = Math.floor(shown(from.getTime()) / DAY_MS) * DAY_MS;
  for (let n = 0; n < MOST_DAYS && found.length < count; n++) {
    const day = new Date(today + n * DAY_MS);
    const isDay = days.includes(day.getUTCDate()) && months.includes(day.getUTCMonth() + 1);
    if (!isDay || !weekdays.some((weekday) => weekday % 7 === day.getUTCDay())) continue;
    const times = hours.flatMap((hour) => minutes.map((minute) => day.getTime() + (hour * 60 + minute) * 60_000));
    for (const time of times) {
      const at = instantOf(time, shown);
      if (at !== undefined && at > from.getTime() && found.length < count) found.push(new Date(at));
    }
  }
  return found;
}

/** What clocks of a zone show at an instant, as if it were UTC. */
function clockOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    ...{ hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  };
}

/** The first instant at which clocks show this time. */
function instantOf(time: number, shown: (at: number) => number): number | undefined {
  const offsets = [time - DAY_MS, time + DAY_MS].map((near) => shown(near) - near);
  return offsets
    .map((offset) => time - offset)
    .sort((a, b) => a - b)
    .find((at) => shown(at) === time);
}
