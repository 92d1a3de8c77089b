import { hash } from 'node:crypto';
import { z } from 'zod';
import { Name } from '../contract/common.ts';

/** A Docket: a PostgreSQL database with its Temporal namespace and its own API processes. */
export interface Docket {
  name: string;
  /** Of its API, without a slash at the end. */
  url: string;
}

/** Where something is. */
export interface Place {
  to: Docket;
  /** While it is being moved: what was added before is there until it ends. */
  from?: Docket;
}

/** What is kept together: `queue/<name>`, `topic/<name>`, `court/<name>`. */
export type Scope = `${'queue' | 'topic' | 'court'}/${string}`;

const Placed = z
  .record(z.string().regex(/^(queue|topic|court)\/./, 'must be queue/NAME, topic/NAME or court/NAME'), Name)
  .default({});
const Url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform((url) => url.replace(/\/+$/, ''));

/** The file that `docket router` reads. */
export const PlacesFile = z
  .strictObject({
    /** Their URLs by name. A name stays for good: it is what queues are placed by. */
    dockets: z.record(Name, Url).refine((all) => Object.keys(all).length > 0, 'must have one'),
    /** Where all reviews are, and all tasks with their groups and clients; neither can be moved. */
    reviews: Name,
    tasks: Name,
    /** Where a scope is that is not where its hash says. */
    placed: Placed,
    /** How it was before; what is placed elsewhere now is being moved. */
    before: z.strictObject({ dockets: z.array(Name).min(1), placed: Placed }).optional(),
    /** Adds to what is being moved are put off, until all routers have read this file. */
    hold: z.boolean().default(false),
  })
  .superRefine((file, context) => {
    const { dockets, reviews, tasks, placed, before } = file;
    const named = [reviews, tasks, ...Object.values(placed), ...(before?.dockets ?? [])];
    for (const name of [...named, ...Object.values(before?.placed ?? {})])
      if (!Object.hasOwn(dockets, name)) context.addIssue(`${name} is not one of dockets`);
    if (file.hold && !before) context.addIssue('hold needs before');
  });
export type PlacesFile = z.output<typeof PlacesFile>;

/** Where everything is. */
export class Places {
  readonly #file: PlacesFile;
  readonly all: Docket[];

  /** @param text JSON. @throws Error that says what is wrong with it */
  constructor(text: string) {
    const parsed = PlacesFile.safeParse(JSON.parse(text));
    if (!parsed.success)
      throw new Error(
        parsed.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim()).join('; '),
      );
    this.#file = parsed.data;
    this.all = Object.entries(parsed.data.dockets).map(([name, url]) => ({ name, url }));
  }

  /** For calls that any of them refuses in the same way. */
  get any(): Docket {
    return this.all[0] as Docket;
  }

  get reviews(): Docket {
    return this.#named(this.#file.reviews);
  }

  get tasks(): Docket {
    return this.#named(this.#file.tasks);
  }

  /** Whether adds to what is being moved are put off. */
  get hold(): boolean {
    return this.#file.hold;
  }

  of(scope: Scope): Place {
    const { dockets, placed, before } = this.#file;
    const to = placed[scope] ?? chosen(Object.keys(dockets), scope);
    const from = before && (before.placed[scope] ?? chosen(before.dockets, scope));
    return { to: this.#named(to), ...(from !== undefined && from !== to && { from: this.#named(from) }) };
  }

  #named = (name: string) => this.all.find((docket) => docket.name === name) as Docket;
}

/** By rendezvous hashing: a Docket more takes its share from all, and nothing moves between the others. */
function chosen(names: string[], scope: Scope): string {
  const weighed = names.map((name) => ({ name, weight: hash('sha256', `${name}\n${scope}`) }));
  return weighed.reduce((best, other) => (other.weight > best.weight ? other : best)).name;
}
