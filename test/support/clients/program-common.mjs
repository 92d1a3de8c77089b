// What the programs with the TypeScript client have in common: their arguments, a client, lines of JSON.
import { Client } from '@docket/client';

const [, , what, text = '{}'] = process.argv;

export const asked = JSON.parse(text);
export const { servers, apiKey, discover, retrySeconds } = asked;
export const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
export const clientOf = (options) => new Client({ servers, apiKey, discover, retrySeconds, ...options });
export const client = servers && clientOf();
export const shortName = (error) => error.name.replace(/Error$/, '');

/** The name of the error that a call fails with; null where it doesn't. */
export const named = (promise) => promise.then(() => null, shortName);

/** The same, and its code with it. */
export const refusal = (promise) =>
  promise.then(
    () => null,
    (error) => `${shortName(error)} ${error.code ?? ''}`.trim(),
  );

/** All that an iterator gives. */
export async function all(iterator) {
  const items = [];
  for await (const item of iterator) items.push(item);
  return items;
}

/** Runs the program that was asked for. */
export async function run(programs) {
  try {
    await programs[what]();
  } catch (error) {
    say({ fatal: shortName(error), text: error.message });
    process.exitCode = 3;
  }
}
