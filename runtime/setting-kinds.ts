import { z } from 'zod';
import { urlsOf } from '../domain/database-url.ts';

// What settings may be: each reads a string of the environment.

const between = (min: number, max?: number) => (max === undefined ? `of at least ${min}` : `from ${min} to ${max}`);

function numberOf(min: number, max: number | undefined, error: string) {
  const number = z.coerce.number(error).min(min, error);
  return max === undefined ? number : number.max(max, error);
}

export const decimal = (min: number, max?: number) => numberOf(min, max, `must be a number ${between(min, max)}`);
export function whole(min: number, max?: number) {
  const error = `must be a whole number ${between(min, max)}`;
  return numberOf(min, max, error).int(error);
}
export const oneOf = <const T extends string>(...words: T[]) => z.enum(words, `must be ${words.join(' or ')}`);
export const Port = whole(0, 65_535);
export const Switch = oneOf('0', '1');
export const Text = z.string().min(1);
export const WebUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' });

/** What a provider says is believed, so nobody on the way may change it. */
export const Issuer = WebUrl.refine(
  // what is no URL has been found already
  (url) =>
    !URL.canParse(url) || url.startsWith('https:') || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(url).hostname),
  'must begin with https://, unless it is on this machine',
);

export const DATABASE_URL_FORM =
  'must be a URL such as postgres://user:password@host:5432/database, with special characters of the password as %40, %2F';
/** A host may be left out, for a socket; behind a user that alone makes it no URL. */
export const isDatabaseUrl = (url: string) =>
  /^postgres(ql)?:\/\//.test(url) && urlsOf(url).every((each) => URL.canParse(each.replace('@/', '@localhost/')));

export const SESSION_FORM = 'has a target_session_attrs that is not any, read-write or primary';
/** Docket writes, so it is of no use to a standby. */
export const wantsNoStandby = (url: string) =>
  /^(any|read-write|primary)$/.test(new URLSearchParams(url.split('?', 2)[1]).get('target_session_attrs') ?? 'any');

/** As it stands in a Content-Security-Policy, where anything else could say something of its own. */
export const ImageHost = z
  .string()
  .regex(
    /^(https?:\/\/)?(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?$/i,
    'must be hosts, separated by commas: images.example.com, https://*.example.com',
  );

/** What is written between commas. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** @param parse throws an Error that says what is wrong */
export const read =
  <T>(parse: (text: string) => T) =>
  (text: string, context: z.RefinementCtx): T => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue((error as Error).message);
      return z.NEVER;
    }
  };
