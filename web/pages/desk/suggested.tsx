import type { Schemas } from '../../api/client.ts';
import { type Draft, draftOf, emptyDraft, isDraft, isObject } from '../../components/form/draft.ts';
import type { FieldSpec, Given } from '../../components/form/spec.ts';
import { percent } from '../../components/format.ts';
import { Button } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { type DecisionForm, textOf, wordsOf } from './schema.ts';

interface Props {
  suggestion: Schemas['Suggestion'];
  form: DecisionForm;
  take: () => void;
}

/** A model gives its reasons in whatever form. */
const inWords = (reasons: unknown) => (Array.isArray(reasons) ? reasons.map(textOf).join(' · ') : textOf(reasons));

/** What a model suggests, in a line. Taking it over fills in the form; it decides nothing (S0.12). */
export function Suggested({ suggestion: { model, decision, confidence, reasons }, form, take }: Props) {
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
