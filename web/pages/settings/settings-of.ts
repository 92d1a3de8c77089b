import { api, data, get, orNull, type Schemas } from '../../api/client.ts';
import { isSame } from '../../components/form/draft.ts';
import type { Given } from '../../components/form/spec.ts';

/** Where the settings of one kind are read and written. */
export interface SettingsOf {
  /** null: there is nothing of that name yet. */
  load: (name: string, signal?: AbortSignal) => Promise<Given | null>;
  save: (name: string, settings: Given) => Promise<Given>;
  /** What the settings would do to what is there; changes nothing. */
  tryOut?: (name: string, settings: Given) => Promise<Foreseen>;
}

/** What a dry run has found, or a save has warned of. */
export type Foreseen = Schemas['QueueDryRun'] | Schemas['CourtDryRun'] | { warnings: string[] };

type Path = '/v1/queues/{queue}' | '/v1/courts/{court}' | '/v1/topics/{topic}';

/** @param beside what an answer says beside the settings; that cannot be sent back */
function settingsAt(path: Path, of: string, beside: readonly string[]): Required<SettingsOf> {
  const without = (answer: object): Given =>
    Object.fromEntries(Object.entries(answer).filter(([name]) => !beside.includes(name)));
  const at = (name: string) => ({ path: { [of]: name } }) as never;
  const put = (name: string, body: Given) => data(api.PUT(path, { params: at(name), body: body as never }));
  return {
    load: (name, signal) => orNull(get(path, at(name), signal).then(without)),
    save: async (name, settings) => without(await put(name, settings)),
    tryOut: async (name, settings) => (await put(name, { ...settings, dryRun: true })) as Foreseen,
  };
}

export const queueSettingsOf: SettingsOf = settingsAt('/v1/queues/{queue}', 'queue', [
  ...['name', 'paused', 'createdAt', 'updatedAt'],
]);
export const courtSettingsOf: SettingsOf = settingsAt('/v1/courts/{court}', 'court', [
  'name',
  'createdAt',
  'updatedAt',
]);

const { load, save } = settingsAt('/v1/topics/{topic}', 'topic', ['name', 'createdAt']);
/** A topic's settings say also whether it is paused, and cannot be tried out. */
export const topicSettingsOf: SettingsOf = { load, save };

/** The fields in which `after` is not as `before`. */
export const changedIn = (before: Given, after: Given): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(before[name], after[name]));

/**
 * What to send so that only what was changed here changes: the settings of now with the changed fields.
 * @returns `clashing`: fields that someone else has changed as well, to something else
 */
export function mergeChanges(before: Given, after: Given, now: Given): { merged: Given; clashing: string[] } {
  const changed = changedIn(before, after);
  const clashing = changed.filter((name) => !isSame(now[name], before[name]) && !isSame(now[name], after[name]));
  return { merged: { ...now, ...Object.fromEntries(changed.map((name) => [name, after[name]])) }, clashing };
}
