import { language, texts } from '../texts/texts.ts';

const locale = () => (language.value === 'zh' ? 'zh-Hans-CN' : 'en-GB');

export const number = (n: number, digits = 0) =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(n);

/** On an axis: `950`, `12K`. */
export const compact = (n: number) =>
  n < 10_000 ? number(n) : new Intl.NumberFormat(locale(), { notation: 'compact' }).format(n);

/** Of a share from 0 to 1: `12 %` as the language writes it. */
export const percent = (share: number) =>
  new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 1 }).format(share);

/** `3 d 4 h`, `12 min`, `8 s`: two units at most, so that columns stay narrow. */
export function duration(seconds: number): string {
  const { units } = texts.value.common;
  const s = Math.max(0, Math.floor(seconds));
  const [d, h, min] = [Math.floor(s / 86_400), Math.floor(s / 3_600) % 24, Math.floor(s / 60) % 60];
  if (d > 0) return `${d} ${units.d}${d < 10 && h > 0 ? ` ${h} ${units.h}` : ''}`;
  if (h > 0) return `${h} ${units.h}${min > 0 ? ` ${min} ${units.m}` : ''}`;
  if (min > 0) return `${min} ${units.m}`;
  return `${s} ${units.s}`;
}

/** Also less than a second: `40 ms`, `6.2 s`, `1.5 min`, `3 h 20 min`. */
export function exactDuration(seconds: number): string {
  const { units } = texts.value.common;
  if (seconds < 1) return milliseconds(seconds * 1_000);
  if (seconds < 60) return `${number(seconds, 1)} ${units.s}`;
  return seconds < 3_600 ? `${number(seconds / 60, 1)} ${units.m}` : duration(seconds);
}

/** The same of a time that may not have been measured. */
export const spent = (seconds: number | null) => (seconds === null ? '–' : exactDuration(seconds));

/** Of what someone has set, nothing left out: `1 min 30 s`, `2 d`. */
export function span(seconds: number): string {
  const { units } = texts.value.common;
  const parts: string[] = [];
  let rest = seconds;
  for (const [size, unit] of [
    [86_400, units.d],
    [3_600, units.h],
    [60, units.m],
  ] as const) {
    const n = Math.floor(rest / size);
    if (n > 0) parts.push(`${n} ${unit}`);
    rest -= n * size;
  }
  if (rest > 0 || parts.length === 0) parts.push(`${number(rest, 3)} ${units.s}`);
  return parts.join(' ');
}

/** Of a call: `4 ms`, `1.2 s`. */
const milliseconds = (ms: number) => (ms < 1_000 ? `${number(ms, ms < 10 ? 1 : 0)} ms` : `${number(ms / 1_000, 1)} s`);

/** A moment in the browser's time zone. */
export const moment = (iso: string) =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(iso));

const dateFormat = (options: Intl.DateTimeFormatOptions) => (d: Date) =>
  new Intl.DateTimeFormat(locale(), options).format(d);

/** `22 November 2026` */
export const dateLong = dateFormat({ dateStyle: 'long' });
/** `November 2026` */
export const monthName = dateFormat({ month: 'long', year: 'numeric' });
/** `09:30` */
export const timeOfDay = dateFormat({ timeStyle: 'short' });
/** `22 Nov` */
export const dayOfMonth = dateFormat({ day: 'numeric', month: 'short' });
/** `22 Nov, 09:30` */
export const dayAndTime = dateFormat({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
