import { useState } from 'preact/hooks';
import { useShortcuts } from '../../components/keys.ts';
import { Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import { compose, type Draft, type Fault, faultsOf, verdictOf } from './form/draft.ts';
import { FormField, labelOf, labelOfChoice } from './form/fields.tsx';
import { type Field, formOf } from './form/schema.ts';
import type { Held } from './shelf.ts';

interface Props {
  held: Held;
  /** The queue's form; null: it takes any decision. */
  schema: object | null;
  draft: Draft;
  fillIn: (draft: Draft) => void;
  decide: (decision: unknown) => void;
  /** Further keys of the page. */
  keys: Parameters<typeof useShortcuts>[0];
}

const JSON_FIELD: Field = { kind: 'json', path: '#json', name: '', label: '', hint: '', required: true };

/** Verdicts for queues without a form. */
function plainForm(): Field {
  const { verdicts, choose } = texts.value.desk.decision;
  const options = Object.entries(verdicts).map(([verdict, label]) => ({ value: { verdict }, label }));
  return { kind: 'choice', path: '#verdict', name: '', label: choose, hint: '', required: true, options };
}

type Choosable = Field & { kind: 'choice' };

/** The form in two: what one key decides, and what is filled in before. */
function partsOf(form: Field): { verdict: Choosable | null; rest: Field | null } {
  const verdict = verdictOf(form);
  const others =
    form.kind === 'group' ? form.fields.filter(({ path }) => path !== verdict?.path) : verdict ? [] : [form];
  const isSeen = others.some(({ kind }) => kind !== 'fixed');
  return { verdict, rest: !isSeen ? null : form.kind === 'group' ? { ...form, fields: others } : form };
}

/** How the reviewer decides: by a key, or by filling in the queue's form. */
export function Decision({ held, schema, draft, fillIn, decide, keys }: Props) {
  const t = texts.value.desk.decision;
  const form = schema ? formOf(schema) : plainForm();
  const { verdict, rest } = partsOf(form);
  const [tried, setTried] = useState(false);
  const attempt = (filled: Draft, of = form) => {
    const { value, faults } = compose(of, filled);
    const [wrong] = Object.keys(faults);
    if (wrong === undefined) return decide(value);
    setTried(true);
    document.querySelector<HTMLElement>(`[data-path="${CSS.escape(wrong)}"]`)?.focus();
  };
  const choose = (n: number) => {
    if (!verdict) return;
    const filled = { ...draft, [verdict.path]: n };
    fillIn(filled);
    attempt(filled);
  };
  const change = (path: string, value: Draft[string] | undefined) => {
    const { [path]: _, ...others } = draft;
    fillIn(value === undefined ? others : { ...others, [path]: value });
  };
  const digits = (verdict?.options ?? []).map((option, n) => ({
    key: String(n + 1),
    does: t.byKey(labelOfChoice(option)),
    run: () => choose(n),
  }));
  useShortcuts([...digits, ...keys]);
  const own = tried && rest ? inWords(compose(form, draft).faults) : {};
  const faults = { ...faultsOf(held.problem?.errors ?? []), ...own };
  return (
    <Section title={t.title}>
      <form class="desk-form" noValidate onSubmit={submitting(() => attempt(draft))} onKeyDown={pressed}>
        {rest && <FormField field={rest} draft={draft} change={change} faults={faults} />}
        {verdict && (
          <Verdicts field={verdict} chosen={draft[verdict.path]} choose={choose} fault={faults[verdict.path]}>
            {rest && <p class="hint">{t.restFirst}</p>}
          </Verdicts>
        )}
        {rest && (
          <button
            type="submit"
            class="primary"
            aria-keyshortcuts="Control+Enter"
            // as in `Verdicts`
            onClick={(event) => event.detail > 1 && event.preventDefault()}
          >
            {t.decide} <kbd>{t.decideKeys}</kbd>
          </button>
        )}
      </form>
      {!schema && <Free draft={draft} change={change} decide={() => attempt(draft, JSON_FIELD)} tried={tried} />}
    </Section>
  );
}

const submitting = (submit: () => void) => (event: SubmitEvent) => {
  event.preventDefault();
  submit();
};

/** Keys of the form itself: Escape leaves a field, so that the keys of the page are free again. */
function pressed(event: preact.TargetedKeyboardEvent<HTMLFormElement>): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
  if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
}

function inWords(found: Readonly<Record<string, Fault>>): Record<string, string> {
  const { faults } = texts.value.desk.decision;
  return Object.fromEntries(Object.entries(found).map(([path, fault]) => [path, faults[fault]]));
}

interface VerdictsProps {
  field: Choosable;
  chosen: Draft[string] | undefined;
  choose: (n: number) => void;
  fault: string | undefined;
  children: preact.ComponentChildren;
}

function Verdicts({ field, chosen, choose, fault, children }: VerdictsProps) {
  return (
    <fieldset class="desk-verdicts">
      <legend>{labelOf(field) || texts.value.desk.decision.choose}</legend>
      {field.hint && <p class="hint">{field.hint}</p>}
      {field.options.map((option, n) => (
        <button
          key={n}
          type="button"
          data-path={field.path}
          aria-pressed={chosen === n}
          aria-keyshortcuts={String(n + 1)}
          // the second of a double click would be for the next ticket
          onClick={(event) => event.detail < 2 && choose(n)}
        >
          <kbd>{n + 1}</kbd> {labelOfChoice(option)}
        </button>
      ))}
      {fault && <p class="error">{fault}</p>}
      {children}
    </fieldset>
  );
}

interface FreeProps {
  draft: Draft;
  change: (path: string, value: Draft[string] | undefined) => void;
  decide: () => void;
  tried: boolean;
}

/** Any decision there can be. */
function Free({ draft, change, decide, tried }: FreeProps) {
  const t = texts.value.desk.decision;
  const fault = compose(JSON_FIELD, draft).faults[JSON_FIELD.path];
  const faults: Record<string, string> = tried && fault ? { [JSON_FIELD.path]: t.faults[fault] } : {};
  return (
    <details class="desk-free">
      <summary>{t.free}</summary>
      <form class="desk-form" onSubmit={submitting(decide)}>
        <FormField field={JSON_FIELD} draft={draft} change={change} faults={faults} />
        <button type="submit">{t.decide}</button>
      </form>
    </details>
  );
}
