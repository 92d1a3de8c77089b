import { signal } from '@preact/signals';
import type { Schemas } from '../../api/client.ts';
import { mayPass, problemOf } from '../../api/problem.ts';
import { asDraft, type Draft } from '../../components/form/draft.ts';
import { unsent } from '../../unsaved.ts';
import type { Calls } from './calls.ts';
import { has, type Shelf } from './shelf.ts';

/** Between two calls for what someone goes on filling in. */
const SAVE_MS = 1_000;

/** What has been filled in, by ticket, also of those that were lost, should they come back. The server keeps it with the lease (S0.7). */
export class Drafts {
  readonly of = signal<Readonly<Record<string, Draft>>>({});
  readonly #calls: Calls;
  readonly #shelf: () => Shelf;
  readonly #unsaved = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(calls: Calls, shelf: () => Shelf) {
    this.#calls = calls;
    this.#shelf = shelf;
  }

  fillIn(id: string, draft: Draft): void {
    this.of.value = { ...this.of.value, [id]: draft };
    this.#unsaved.add(id);
    unsent.add(this);
    this.#saveLater();
  }

  /** Takes over what was filled in of tickets that have just been handed out, unless there is something newer here. */
  take(tickets: readonly Schemas['HandedTicket'][]): void {
    for (const { id, lease } of tickets) {
      const draft = asDraft(lease?.draft);
      if (draft && !this.#unsaved.has(id)) this.of.value = { ...this.of.value, [id]: draft };
    }
    if (this.#unsaved.size > 0) this.#saveLater();
  }

  /** Sends what has been filled in since. A decided ticket's is not needed unless it is undone; an absent server gets it later. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    const { current, ready } = this.#shelf();
    const held = [...(current ? [current] : []), ...ready].filter(({ ticket }) => this.#unsaved.delete(ticket.id));
    const saving = held.map(async (one) => {
      const { id } = one.ticket;
      await this.#calls.keep(one, this.of.value[id]).catch((error: unknown) => {
        if (mayPass(problemOf(error))) this.#unsaved.add(id);
      });
    });
    await Promise.all(saving);
    this.#timer = undefined;
    if (this.#unsaved.size === 0) unsent.delete(this);
    if ([...this.#unsaved].some((id) => has(this.#shelf(), id))) this.#saveLater();
  }

  #saveLater(): void {
    this.#timer ??= setTimeout(() => void this.save(), SAVE_MS);
  }
}
