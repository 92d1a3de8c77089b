import './wording.ts';
import { z } from '@hono/zod-openapi';

const PLAIN = 'A-Za-z0-9_:~@-';

/** An id of a ticket, case, review, task or picture; the path of a URL loses `.` and `..`. */
export const Id = z
  .string()
  .regex(
    new RegExp(`^([${PLAIN}][.${PLAIN}]{0,199}|\\.[${PLAIN}][.${PLAIN}]{0,198}|\\.\\.[.${PLAIN}]{1,198})$`),
    'must be 1 to 200 characters of A-Za-z0-9._:~@-, and not . or ..',
  );
/** The same where items are ended by a list of ids, or found: earlier releases took `.` and `..`. */
export const AnyId = z.string().regex(/^[A-Za-z0-9._:~@-]{1,200}$/, 'must be 1 to 200 characters of A-Za-z0-9._:~@-');

export const CONTROL = String.raw`\u0000-\u001f\u007f-\u009f`;
/** Of the direction of writing, and of no width. */
const HIDDEN = String.raw`\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff`;
/** For the document: no control characters. */
export const TEXT_PATTERN = `^[^${CONTROL}]+$`;

/** The same, and neither `.` nor `..`, for the document: generators of clients cannot read look-ahead, surrogates and the flag. */
const shown = (most: number, but = '') => ({
  ...{ minLength: 1, maxLength: most },
  pattern: `^([^${CONTROL}${but}.]|\\.[^${CONTROL}${but}.]|\\.\\.[^${CONTROL}${but}])[^${CONTROL}${but}]*$`,
});

/**
 * The business decides how its jobs' ids look (S3.2): Unicode characters, counted and compared as code points without
 * normalization. Control characters are not text, and the path of a URL loses `.` and `..`.
 */
export const chosenName = (most: number) =>
  z
    .string()
    .regex(
      new RegExp(String.raw`^(?!\.{1,2}$)[^${CONTROL}\ud800-\udfff]{1,${most}}$`, 'u'),
      `must be 1 to ${most} Unicode characters, none of them a control character, and not . or ..`,
    )
    .openapi(shown(most));

/** What tickets are about: several may be about the same. */
export const Subject = chosenName(200);

const NAME = new RegExp(String.raw`^(?!\.{1,2}$)[^${CONTROL}${HIDDEN}\ud800-\udfff]{1,200}$`, 'u');
const SERVERS = /^(model:|nexus\/|erased-)/;
/** Actors of events that are no caller's name: the server's parts, and whoever calls one that asks for no keys. */
const OWN = /^((anonymous|erasure|push|schedule|system)$|nexus\/|erased-)/;
/** For `refine`. */
export const NOT_THE_SERVERS = [(name: string): boolean => !OWN.test(name), 'is a name of the server’s own'] as const;
const text = z
  .string()
  .regex(
    NAME,
    'must be 1 to 200 Unicode characters, none of them a control, bidirectional or zero-width one, and not . or ..',
  )
  .refine((name) => name === name.normalize('NFC'), 'must be in Unicode’s normal form NFC');
const forCallers = text.refine(isForCallers, 'must not begin with model:, nexus/ or erased-, which are the server’s');

/** The name of a queue, court, topic, group, template, schedule or person, in any script, the server's own included. */
export const SHOWN_NAME = shown(200, HIDDEN);
export const AnyName = text.openapi(SHOWN_NAME);
/** The same of callers' choice. */
export const Name = forCallers.openapi(SHOWN_NAME);
/** The same of a queue, court, topic or group that may come into being; in the queues of a key `*` has a meaning. */
export const NewName = forCallers
  .refine((name) => !name.includes('*'), 'must not have a *')
  .openapi(shown(200, `${HIDDEN}*`));

/** Whether a caller may give something or somebody this name: such beginnings are the server's. */
function isForCallers(name: string): boolean {
  return !SERVERS.test(name);
}

export const IdParam = z.object({ id: Id });
export const QueueParam = z.object({ queue: AnyName });
export const NewQueueParam = z.object({ queue: NewName });
