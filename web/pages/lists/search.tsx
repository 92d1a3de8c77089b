import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useAttempt } from '../../api/attempt.ts';
import { get } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { mayAct } from '../../api/session.ts';
import { State } from '../../components/badge.tsx';
import { Field } from '../../components/field.tsx';
import { useShortcuts } from '../../components/keys.ts';
import { Button, Page, ProblemNote, Section, submitting } from '../../components/page.tsx';
import { pathOf, READERS } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { Chips, FilterForm } from './filter-form.tsx';
import { filterIn, kindIn, kindsSeen } from './filters.ts';
import { ItemList } from './list.tsx';
import { DownloadCsv, Views } from './views.tsx';

const BASE = '/search';

/** Finds an item by its id, or lists items by state, queue, person and time. */
export function Search() {
  const { query } = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const t = texts.value;
  const kinds = kindsSeen();
  const kind = kindIn(query, kinds);
  const filter = kind ? filterIn(query, kind) : {};
  useShortcuts([{ key: '/', does: t.lists.toId, run: () => field.current?.focus() }]);
  return (
    <Page title={t.pages.search}>
      <Section title={t.lists.byId}>
        <Jump input={field} />
      </Section>
      {kind && (
        <Section title={t.lists.byFilter} actions={kind === 'ticket' && <DownloadCsv filter={filter} />}>
          {kind === 'ticket' && <Views filter={filter} base={BASE} />}
          <FilterForm kind={kind} kinds={kinds} filter={filter} base={BASE} />
          <Chips kind={kind} filter={filter} base={BASE} />
          <ItemList kind={kind} filter={filter} base={BASE} />
        </Section>
      )}
    </Page>
  );
}

interface Answer extends Awaited<ReturnType<typeof findId>> {
  id: string;
}

/** What is meant without doubt is opened at once; of several that begin alike, or differ in kind only, someone chooses. */
function Jump({ input }: { input: RefObject<HTMLInputElement | null> }) {
  const { route } = useLocation();
  const t = texts.value;
  const [answer, setAnswer] = useState<Answer | null>(null);
  const { busy, problem, attempt } = useAttempt();
  const jump = (form: HTMLFormElement) => {
    const id = String(new FormData(form).get('id') ?? '').trim();
    if (id === '' || busy) return;
    setAnswer(null);
    return attempt(async () => {
      const found = await findId(id);
      // someone who has gone elsewhere meanwhile stays there
      if (!form.isConnected) return;
      const only = onlyOne(id, found);
      if (only) route(only.path);
      else setAnswer({ id, ...found });
    });
  };
  return (
    <form class="ask panel-body" onSubmit={submitting(jump)}>
      <Field label={t.lists.id} hint={t.lists.idHint}>
        {(field) => <input {...field} ref={input} name="id" type="text" autocomplete="off" spellcheck={false} />}
      </Field>
      <Button does={t.lists.open} disabled={busy} />
      <output aria-live="polite">{answer && <Answered answer={answer} />}</output>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

function Answered({ answer: { id, hits, more } }: { answer: Answer }) {
  const t = texts.value.lists;
  if (hits.length === 0) return t.notFound(id);
  return (
    <>
      {t.several(id)}
      <ul class="plain stack">
        {hits.map(({ kind, id: found, path, queue, state }) => (
          <li key={path}>
            <a href={path}>
              {texts.value.items.kinds[kind]} {found}
            </a>{' '}
            {state && <State state={state} />} {queue && <span class="muted">{queue}</span>}
          </li>
        ))}
      </ul>
      {more && t.moreHits}
    </>
  );
}

/** What an id, or the beginning of one, has found. */
interface Found {
  kind: 'ticket' | 'job' | 'case' | 'occurrence' | 'task' | 'review';
  id: string;
  path: string;
  /** Of an item. */
  queue?: string;
  state?: string;
}

interface Hits {
  hits: Found[];
  /** There are more than are shown. */
  more: boolean;
}

const MOST = 20;
/** As the API names them: its tasks are occurrences. */
const ITEM_KINDS = ['ticket', 'job', 'case', 'task'] as const;
type ItemListKind = (typeof ITEM_KINDS)[number];

/**
 * Looks for what has this id, or an id that begins like it: items of all kinds by one call. Tasks and reviews are no items, and
 * are found by their whole id only; so is all that a consumer may see.
 * @throws CallError
 */
async function findId(id: string): Promise<Hits> {
  const of = { path: { id } };
  if (!mayAct('producer', 'agent')) return { hits: await known('job', id, get('/v1/jobs/{id}', of)), more: false };
  const [items, ...others] = await Promise.all([
    itemsLike(id),
    known('rotation', id, get('/v1/tasks/{id}', of)),
    known('review', id, get('/v1/reviews/{id}', of)),
  ]);
  const hits = items.items.slice(0, MOST).map(({ kind, id, queue, state }): Found => {
    return { kind: kind === 'task' ? 'occurrence' : kind, id, queue, state, path: pathOf(kind, id) };
  });
  return { hits: [...others.flat(), ...hits], more: items.more || items.items.length > MOST };
}

/** The API lists items of all kinds also to those who may not read each. */
async function itemsLike(id: string) {
  const read = (kind?: ItemListKind) => get('/v1/items', { query: { id, limit: MOST, kind } });
  const readable = ITEM_KINDS.filter((kind) => mayAct(...READERS[kind === 'task' ? 'occurrence' : kind]));
  const pages = await Promise.all(readable.length === ITEM_KINDS.length ? [read()] : readable.map(read));
  return { items: pages.flatMap(({ items }) => items), more: pages.some(({ nextCursor }) => nextCursor !== null) };
}

/** The one to open at once: the only one with this very id, or the only one at all. */
function onlyOne(id: string, { hits }: Hits): Found | undefined {
  const exact = hits.filter((one) => one.id === id);
  const [first, second] = exact.length > 0 ? exact : hits;
  return second ? undefined : first;
}

/** There is none, it is not for this key, or it cannot be an id of this kind. */
const ABSENT = ['not_found', 'forbidden', 'invalid_request'];

async function known(kind: 'job' | 'rotation' | 'review', id: string, asking: Promise<unknown>) {
  try {
    await asking;
  } catch (error) {
    if (ABSENT.includes(problemOf(error).code)) return [];
    throw error;
  }
  return [{ kind: kind === 'rotation' ? 'task' : kind, id, path: pathOf(kind, id) }] satisfies Found[];
}
