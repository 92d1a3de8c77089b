import { Refused, SAYS } from './answers.ts';

type Sent = Map<string, unknown>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The fields of a body, read as the original does: any content type, names in upper or lower case, `null` as if it were missing.
 * @throws Refused
 */
export function sentOf(bytes: Buffer): Sent {
  const value = parsed(bytes);
  if (value === null) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) throw new Refused(SAYS.notJson);
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return new Map(fields.map(([name, field]) => [name.toLowerCase(), field]));
}

/** @throws Refused for what is not a string */
export function textOf(sent: Sent, name: string): string {
  const text = sent.get(name) ?? '';
  if (typeof text !== 'string') throw new Refused(SAYS.notJson);
  return text;
}

/** @throws Refused for what is not a whole number */
export function numberOf(sent: Sent, name: string): number {
  const number = sent.get(name) ?? 0;
  if (!Number.isSafeInteger(number)) throw new Refused(SAYS.notJson);
  return number as number;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Refused(SAYS.notJson);
  }
}
