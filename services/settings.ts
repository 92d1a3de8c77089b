import { takeRefresh } from '../db/queues.ts';
import { kindOf } from '../domain/kinds.ts';
import { Repeating } from '../runtime/repeating.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { refreshCourt } from './courts.ts';
import { refreshQueue } from './queues.ts';
import type { Rules } from './rules.ts';

/**
 * Applies changed settings of queues and courts to what is open in them, where the call that changed them could not: every
 * few seconds, beside the rest of maintenance, which must go on while a million items are walked through.
 */
export class Settings {
  readonly #work: Repeating;

  constructor({ db, relay, log, maintenance }: Runtime, rules: Rules) {
    const refresh = async () => {
      for (const queue of await takeRefresh(db)) {
        if (kindOf(queue.kind).court) await refreshCourt(db, queue.name);
        else await refreshQueue(db, rules, queue.kind, queue.name);
        relay.lookBack();
      }
    };
    this.#work = new Repeating(refresh, (error) =>
      log.warn({ err: error.message }, 'changed settings could not be applied everywhere, trying again'),
    );
    maintenance.add(() => this.#work.run());
  }

  stop(): Promise<void> {
    return this.#work.stop();
  }
}
