import type { Schemas } from '../../api/client.ts';
import { api, data } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { type Draft, draftOf, emptyDraft, isDraft, isObject, read } from '../../components/form/draft.ts';
import type { FieldSpec, Given } from '../../components/form/spec.ts';
import { type SavedAs, savedAs } from '../../components/form/spec.ts';
import { percent } from '../../components/format.ts';
import { Button } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import type { Who } from './calls.ts';
import { type DecisionForm, textOf, wordsOf } from './schema.ts';

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

interface SuggestedProps {
  suggestion: Schemas['Suggestion'];
  form: DecisionForm;
  take: () => void;
}

/** A model gives its reasons in whatever form. */
const inWords = (reasons: unknown) => (Array.isArray(reasons) ? reasons.map(textOf).join(' · ') : textOf(reasons));

/** What a model suggests, in a line. Taking it over fills in the form; it decides nothing (S0.12). */
export function Suggested({ suggestion: { model, decision, confidence, reasons }, form, take }: SuggestedProps) {
  const t = texts.value.desk.suggested;
  return (
    <p class="desk-pending">
      <span>
        {t.says(model, percent(confidence))} <strong>{wordsOf(form, decision)}</strong>{' '}
        {reasons !== null && <bdi class="muted">{inWords(reasons)}</bdi>}
      </span>
      <Button does={t.take} run={take} shortcut="a" />
    </p>
  );
}

/** The inputs, filled in with what a decision says; what is none of the verdicts of a queue without a form stands as JSON. */
export function draftFrom({ fields, isOne }: DecisionForm, decision: unknown, isFree: boolean, draft?: Draft): Draft {
  const [whole] = fields;
  const given = isOne && whole ? { [whole.name]: decision } : (decision as Given);
  const verdicts = whole && 'options' in whole ? whole.options.map(([value]) => value) : [];
  const isOther = isFree && !verdicts.includes(JSON.stringify(decision));
  return isOther ? { base: {}, values: { json: JSON.stringify(decision, null, 2) } } : filledIn(fields, given, draft);
}

/** Of what it does not say, such as a reviewer's own words, the inputs stay as they are. */
function filledIn(fields: readonly FieldSpec[], given: Given, draft = emptyDraft(fields)): Draft {
  const said = fields.filter(({ name }) => given[name] !== undefined);
  const inner = said.map((field): [string, Draft['values'][string]] => {
    const [value, now] = [given[field.name], draft.values[field.name]];
    return field.kind === 'object' && isObject(value)
      ? [field.name, filledIn(field.fields, value, isDraft(now) ? now : undefined)]
      : [field.name, draftOf([field], given).values[field.name] ?? ''];
  });
  return { ...draft, values: { ...draft.values, ...Object.fromEntries(inner) } };
}
