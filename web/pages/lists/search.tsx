import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Problem, problemOf } from '../../api/problem.ts';
import { ProblemNote } from '../../components/feedback.tsx';
import { Field } from '../../components/field.tsx';
import { useShortcuts } from '../../components/keys.ts';
import { Page, Section } from '../../components/page.tsx';
import { itemPath, reviewPath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { FilterForm } from './filter-form.tsx';
import { filterIn, kindIn, kindsSeen } from './filters.ts';
import { ItemList } from './list.tsx';
import { type Found, findId } from './rows.ts';

const BASE = '/search';

/** Finds an item by its id, or lists items by state, queue, person and time. */
export function Search() {
  const { query } = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const t = texts.value;
  const kinds = kindsSeen();
  const kind = kindIn(query, kinds);
  useShortcuts([{ key: '/', does: t.lists.toId, run: () => field.current?.focus() }]);
  return (
    <Page title={t.pages.search}>
      <Section title={t.lists.byId}>
        <Jump input={field} />
      </Section>
      {kind && (
        <Section title={t.lists.byFilter}>
          <FilterForm kind={kind} kinds={kinds} filter={filterIn(query, kind)} base={BASE} />
          <ItemList kind={kind} filter={filterIn(query, kind)} base={BASE} />
        </Section>
      )}
    </Page>
  );
}

const pathTo = ({ kind, id }: Found) => (kind === 'review' ? reviewPath(id) : itemPath(kind, id));

/** One hit is opened at once; of several, which only differ in kind, someone chooses. */
function Jump({ input }: { input: RefObject<HTMLInputElement | null> }) {
  const { route } = useLocation();
  const t = texts.value;
  const [hits, setHits] = useState<{ id: string; found: Found[] } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const jump = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const id = String(form.get('id') ?? '').trim();
    if (id === '') return;
    setProblem(null);
    try {
      const found = await findId(id);
      const [only, ...others] = found;
      if (only && others.length === 0) route(pathTo(only));
      else setHits({ id, found });
    } catch (error) {
      setHits(null);
      setProblem(problemOf(error));
    }
  };
  return (
    <form class="jump" onSubmit={(event) => void jump(event)}>
      <Field label={t.lists.id} hint={t.lists.idHint}>
        {(field) => <input {...field} ref={input} name="id" type="text" />}
      </Field>
      <button type="submit">{t.lists.open}</button>
      <output aria-live="polite">
        {hits && hits.found.length === 0 && t.lists.notFound(hits.id)}
        {hits && hits.found.length > 0 && (
          <ul>
            {hits.found.map((one) => (
              <li key={one.kind}>
                <a href={pathTo(one)}>
                  {t.lists.foundKinds[one.kind]} {one.id}
                </a>
              </li>
            ))}
          </ul>
        )}
      </output>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}
