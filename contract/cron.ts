/** Field by field: its name, its range, and names that stand for its numbers from the lowest on. */
const FIELDS: { name: string; least: number; most: number; words?: string }[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, words: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC' },
  { name: 'day of week', least: 0, most: 7, words: 'SUN MON TUE WED THU FRI SAT' },
];
const ALIASES: Record<string, string> = {
  ...{ '@yearly': '0 0 1 1 *', '@annually': '0 0 1 1 *', '@monthly': '0 0 1 * *', '@weekly': '0 0 * * 0' },
  ...{ '@daily': '0 0 * * *', '@midnight': '0 0 * * *', '@hourly': '0 * * * *' },
};
const PART = /^(?:\*|([A-Za-z]{3}|\d{1,2})(?:-([A-Za-z]{3}|\d{1,2}))?)(?:\/(\d{1,2}))?$/;
const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Temporal reads some expressions differently from cron: a sixth field as a year, what follows `#` as a comment, and two
 * restricted days as both instead of either. So only what both read alike is accepted.
 * @returns what is wrong with a cron expression; undefined: nothing
 */
export function cronFault(cron: string): string | undefined {
  const fields = fieldsOf(cron);
  if (fields.length !== FIELDS.length)
    return 'must have five fields: minute, hour, day of month, month, day of week; for seconds there is everySeconds';
  const values = FIELDS.map((_, n) => numbersOf(fields[n] ?? '', n));
  const wrong = values.indexOf(undefined);
  if (wrong >= 0) return `has a ${FIELDS[wrong]?.name} that is not understood: ${fields[wrong]}`;
  if (!fields[2]?.startsWith('*') && !fields[4]?.startsWith('*'))
    return 'restricts the day of month and the day of week, and in cron either is enough: make a schedule for each';
  const [, , days = [], months = []] = values;
  const fires = months.some((month) => days.some((day) => day <= (LONGEST_MONTHS[month - 1] ?? 0)));
  return fires ? undefined : 'never fires: none of its months has one of its days';
}

const fieldsOf = (cron: string) => (ALIASES[cron.trim()] ?? cron.trim()).split(/\s+/);

/** The numbers of each field; undefined: `cronFault` finds something. */
export function cronNumbers(cron: string): number[][] | undefined {
  if (cronFault(cron) !== undefined) return undefined;
  return fieldsOf(cron).map((field, n) => numbersOf(field, n) ?? []);
}

/** The numbers that a field stands for; undefined: it is not understood. */
function numbersOf(field: string, n: number): number[] | undefined {
  const { least, most, words = '' } = FIELDS[n] ?? { least: 0, most: 0 };
  const numberOf = (word: string) => {
    const at = words.split(' ').indexOf(word.toUpperCase());
    return at >= 0 ? least + at : Number(word);
  };
  const numbers: number[] = [];
  for (const part of field.split(',')) {
    const [matched, from, to, step] = PART.exec(part) ?? [];
    if (matched === undefined || step === '0' || step === '00') return undefined;
    // a step needs a range: programs differ in what 5/15 means
    if (from !== undefined && to === undefined && step !== undefined) return undefined;
    const first = from === undefined ? least : numberOf(from);
    const last = from === undefined ? most : numberOf(to ?? from);
    if (!(least <= first && first <= last && last <= most)) return undefined;
    for (let number = first; number <= last; number += Number(step ?? 1)) numbers.push(number);
  }
  return numbers;
}
