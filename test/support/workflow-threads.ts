import { Worker } from '@temporalio/worker';

interface Creator {
  destroy(): Promise<void>;
}
interface Options {
  activities: Map<string, unknown>;
}
type Create = (bundle: { code: string }, options: Options, logger: unknown) => Promise<Creator>;

/**
 * Systems of a process share the thread that runs their workflows: each of their workers would need most of a second of CPU to load
 * the SDK and the bundle into one of its own. Workflows are separate in it, as they are in the thread of one worker.
 */
const sdk = Worker as unknown as { createWorkflowCreator: Create };
const create = sdk.createWorkflowCreator;
const creators = new Map<string, Promise<Creator>>();

sdk.createWorkflowCreator = function (bundle, options, logger) {
  const key = [...options.activities.keys(), bundle.code].join();
  const known =
    creators.get(key) ??
    create.call(this, bundle, options, logger).then((creator) => Object.assign(creator, { destroy: async () => {} }));
  creators.set(key, known);
  return known;
};
