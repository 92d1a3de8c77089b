import { z } from '@hono/zod-openapi';

const TYPES: Record<string, string> = {
  ...{ string: 'text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'an object', record: 'an object' },
};
const SIZED: Record<string, string> = { string: 'character', array: 'item', record: 'field' };

/** What is wrong with a value, behind its path. Undefined: what the library says will do. */
function wrongness(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is required';
  if (issue.code === 'invalid_type') return `must be ${TYPES[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined;
  const [bound, end, beyond] =
    issue.code === 'too_big' ? [issue.maximum, 'most', 'less'] : [issue.minimum, 'least', 'more'];
  const unit = SIZED[issue.origin];
  if (unit) return `must have at ${end} ${bound} ${unit}${bound === 1 ? '' : 's'}`;
  return issue.inclusive === false ? `must be ${beyond} than ${bound}` : `must be at ${end} ${bound}`;
}

const { localeError } = z.locales.en();
z.config({ localeError: (issue) => wrongness(issue) ?? localeError?.(issue) });
