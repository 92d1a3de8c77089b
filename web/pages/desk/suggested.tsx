import type { Schemas } from '../../api/client.ts';
import { type Draft, draftOf } from '../../components/form/draft.ts';
import { percent } from '../../components/format.ts';
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
      <button type="button" aria-keyshortcuts="a" onClick={take}>
        {t.take} <kbd>a</kbd>
      </button>
    </p>
  );
}

/** The inputs as a decision would fill them in; what is none of the verdicts of a queue without a form stands as JSON. */
export function draftFrom({ fields, isOne }: DecisionForm, decision: unknown, isFree: boolean): Draft {
  const [whole] = fields;
  const given = isOne && whole ? { [whole.name]: decision } : (decision as Readonly<Record<string, unknown>>);
  const verdicts = whole && 'options' in whole ? whole.options.map(([value]) => value) : [];
  const isOther = isFree && !verdicts.includes(JSON.stringify(decision));
  return isOther
    ? { base: {}, values: { json: JSON.stringify(decision, null, 2) } }
    : { ...draftOf(fields, given), base: {} };
}
