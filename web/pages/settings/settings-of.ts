import { api, data, type Schemas } from '../../api/client.ts';
import { CallError } from '../../api/problem.ts';

export type Given = Readonly<Record<string, unknown>>;

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

/** An answer without what it says beside the settings; that cannot be sent back. */
const without = (answer: object, names: readonly string[]): Given =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)));

async function orNull(calling: Promise<Given>): Promise<Given | null> {
  try {
    return await calling;
  } catch (error) {
    if (error instanceof CallError && error.problem.code === 'not_found') return null;
    throw error;
  }
}

const cancelled = (signal: AbortSignal | undefined) => (signal ? { signal } : {});

const QUEUE = ['name', 'paused', 'createdAt', 'updatedAt'];
const putQueue = (queue: string, settings: Given, dryRun: boolean) => {
  const body = { ...(settings as Schemas['PutQueue']), dryRun };
  return data(api.PUT('/v1/queues/{queue}', { params: { path: { queue } }, body }));
};

export const queueSettingsOf: SettingsOf = {
  async load(queue, signal) {
    const calling = data(api.GET('/v1/queues/{queue}', { params: { path: { queue } }, ...cancelled(signal) }));
    return orNull(calling.then((answer) => without(answer, QUEUE)));
  },
  save: async (name, settings) => without(await putQueue(name, settings, false), QUEUE),
  tryOut: async (name, settings) => (await putQueue(name, settings, true)) as Schemas['QueueDryRun'],
};

const COURT = ['name', 'createdAt', 'updatedAt'];
const putCourt = (court: string, settings: Given, dryRun: boolean) => {
  const body = { ...(settings as Schemas['PutCourt']), dryRun };
  return data(api.PUT('/v1/courts/{court}', { params: { path: { court } }, body }));
};

export const courtSettingsOf: SettingsOf = {
  async load(court, signal) {
    const calling = data(api.GET('/v1/courts/{court}', { params: { path: { court } }, ...cancelled(signal) }));
    return orNull(calling.then((answer) => without(answer, COURT)));
  },
  save: async (name, settings) => without(await putCourt(name, settings, false), COURT),
  tryOut: async (name, settings) => (await putCourt(name, settings, true)) as Schemas['CourtDryRun'],
};

const TOPIC = ['name', 'createdAt'];

/** A topic's settings say also whether it is paused. */
export const topicSettingsOf: SettingsOf = {
  async load(topic, signal) {
    const calling = data(api.GET('/v1/topics/{topic}', { params: { path: { topic } }, ...cancelled(signal) }));
    return orNull(calling.then((answer) => without(answer, TOPIC)));
  },
  async save(topic, settings) {
    const body = settings as Schemas['TopicSettings'];
    return without(await data(api.PUT('/v1/topics/{topic}', { params: { path: { topic } }, body })), TOPIC);
  },
};
