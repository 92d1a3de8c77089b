const LEVELS: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warning', 50: 'error', 60: 'fatal' };

/** What others send must not control the terminal. */
const safe = (text: string) =>
  text.replaceAll(/\p{Cc}/gu, (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);

const shown = (value: unknown) => safe(typeof value === 'string' ? value : JSON.stringify(value));

const clock = (time: string | number) => new Date(time).toTimeString().slice(0, 8);

/**
 * A line of the log for people, in the time of this machine:
 * `12:12:15 warning: not delivered: ticket 17 to https://…, attempt 1, ENOTFOUND; next attempt at 12:12:20 (n 1)`.
 * @param line JSON as `docket api` and `docket worker` write it
 */
export function readable(line: string): string {
  const {
    time,
    level,
    msg,
    role: _,
    kind,
    item,
    url,
    attempt,
    error,
    err = error,
    nextAttemptAt,
    stack,
    ...rest
  } = JSON.parse(line);
  const about = [
    item && [kind, item].filter(Boolean).map(shown).join(' ') + (url ? ` to ${shown(url)}` : ''),
    !item && url && `at ${shown(url)}`,
    attempt && `attempt ${attempt}`,
    err && shown(err),
  ].filter(Boolean);
  const others = Object.entries(rest).filter(([, value]) => value !== null);
  const text = [
    `${clock(time)} ${LEVELS[level] ?? level}: ${shown(msg)}`,
    ...(about.length > 0 ? [`: ${about.join(', ')}`] : []),
    ...(nextAttemptAt ? [`; next attempt at ${clock(nextAttemptAt)}`] : []),
    ...(others.length > 0 ? [` (${others.map(([name, value]) => `${name} ${shown(value)}`).join(', ')})`] : []),
  ].join('');
  const trace = typeof stack === 'string' ? stack.split('\n').map((frame) => `\n  ${safe(frame)}`) : [];
  return `${text}${trace.join('')}\n`;
}
