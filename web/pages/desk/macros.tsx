import { api, data } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { type Draft, emptyDraft, read } from '../../components/form/draft.ts';
import { type SavedAs, savedAs } from '../../components/form/spec.ts';
import { texts } from '../../texts/texts.ts';
import type { Who } from './calls.ts';
import { type DecisionForm, wordsOf } from './schema.ts';
import { draftFrom } from './suggested.tsx';

// without keys, and to an administrator, whoever is at the desk has their own
const byOf = (reviewer: string) => (mayAct() ? { by: reviewer } : {});

/** The answers that somebody at this desk can fill in: their own and shared ones. */
export const useMacros = ({ queue, reviewer }: Omit<Who, 'skills'>) =>
  useGet('/v1/queues/{queue}/macros', { path: { queue }, query: { limit: 100, ...byOf(reviewer) } });

interface Props extends Omit<Who, 'skills'> {
  macros: ReturnType<typeof useMacros>;
  form: DecisionForm;
  draft: Draft | undefined;
  fillIn: (draft: Draft) => void;
}

/** Saved answers, each on a button that fills in the form and decides nothing; and what is filled in can be saved. */
export function Macros({ queue, reviewer, macros, form, draft = emptyDraft(form.fields), fillIn }: Props) {
  const t = texts.value.desk.macros;
  const filledIn = form.decisionIn(read(form.fields, draft, texts.value.form.wrong).value);
  const words = wordsOf(form, filledIn);
  const path = (name: string) => ({ path: { queue, name }, query: byOf(reviewer) });
  const save = ({ name, shared }: SavedAs) => {
    const body = { decision: filledIn, shared: shared === true };
    return data(api.PUT('/v1/queues/{queue}/macros/{name}', { params: path(name), body }));
  };
  const remove = (name: string) => data(api.DELETE('/v1/queues/{queue}/macros/{name}', { params: path(name) }));
  const items = macros.data?.items ?? [];
  const shown = items.find(({ by, decision }) => by === reviewer && wordsOf(form, decision) === words);
  return (
    <section class="desk-macros row" aria-label={t.title}>
      {items.map(({ name, by, decision }) => (
        <button
          key={`${by} ${name}`}
          type="button"
          title={wordsOf(form, decision)}
          onClick={() => fillIn(draftFrom(form, decision, false, draft))}
        >
          <bdi>{name}</bdi>
        </button>
      ))}
      <Action
        label={t.save}
        will={words}
        fields={savedAs(texts.value.common, mayAct('supervisor') ? [t.shared, ''] : undefined)}
        run={save}
        onDone={macros.refresh}
      />
      {shown && (
        <Action label={t.remove} about={shown.name} run={() => remove(shown.name)} onDone={macros.refresh} danger />
      )}
    </section>
  );
}
