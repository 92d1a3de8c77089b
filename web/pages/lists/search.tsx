import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useAttempt } from '../../api/attempt.ts';
import { State } from '../../components/badge.tsx';
import { Field } from '../../components/field.tsx';
import { useShortcuts } from '../../components/keys.ts';
import { Page, ProblemNote, Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { Chips, FilterForm } from './filter-form.tsx';
import { filterIn, kindIn, kindsSeen } from './filters.ts';
import { findId, onlyOne } from './find.ts';
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
  const isShown = useShown();
  const jump = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const id = String(form.get('id') ?? '').trim();
    if (id === '' || busy) return;
    setAnswer(null);
    void attempt(async () => {
      const found = await findId(id);
      // someone who has gone elsewhere meanwhile stays there
      if (!isShown()) return;
      const only = onlyOne(id, found);
      if (only) route(only.path);
      else setAnswer({ id, ...found });
    });
  };
  return (
    <form class="ask panel-body" onSubmit={jump}>
      <Field label={t.lists.id} hint={t.lists.idHint}>
        {(field) => <input {...field} ref={input} name="id" type="text" autocomplete="off" spellcheck={false} />}
      </Field>
      <button type="submit" disabled={busy}>
        {t.lists.open}
      </button>
      <output aria-live="polite">{answer && <Answered answer={answer} />}</output>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}

/** @returns whether the component still stands on the page */
function useShown(): () => boolean {
  const shown = useRef(true);
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);
  return () => shown.current;
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
              {t.foundKinds[kind]} {found}
            </a>{' '}
            {state && <State state={state} />} {queue && <span class="muted">{queue}</span>}
          </li>
        ))}
      </ul>
      {more && t.moreHits}
    </>
  );
}
