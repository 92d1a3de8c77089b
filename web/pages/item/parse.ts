import type { Schemas } from '../../api/client.ts';
import { CallError } from '../../api/problem.ts';

type AnyJson = Schemas['Resolve']['decision'];

/**
 * What someone typed as JSON: `{"status": 1}`, `true`; a word that is no JSON is a string, so that no one types quotes.
 * @throws CallError as the API would answer to nothing, or to JSON that is not whole
 */
export function parseJson(typed: string): AnyJson {
  const text = typed.trim();
  if (text === '') throw wrong('is required');
  try {
    return JSON.parse(text) as AnyJson;
  } catch {
    // a bracket that is not closed is a mistake, and no word
    if (/^[[{"]/.test(text)) throw wrong('is not JSON');
    return text;
  }
}

const wrong = (message: string) =>
  new CallError({
    code: 'invalid_request',
    status: 0,
    title: '',
    detail: '',
    requestId: null,
    errors: [{ path: 'decision', message }],
  });
