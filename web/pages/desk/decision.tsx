import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { type Draft, emptyDraft, type FieldError, read } from '../../components/form/draft.ts';
import { Fields } from '../../components/form/fields.tsx';
import { useShortcuts } from '../../components/keys.ts';
import { Button, Section, submitting } from '../../components/page.tsx';
import { Verdicts } from '../../components/verdicts.tsx';
import { texts } from '../../texts/texts.ts';
import { type DecisionForm, formOf, single, type Verdict, verdictOf } from './schema.ts';
import type { Held } from './shelf.ts';

/** A key or click that comes sooner was meant for the ticket before. */
const SEEN_MS = 300;
/** The form that Ctrl + Enter sends from anywhere on the page. */
const FORM = 'desk-form';

interface Props {
  held: Held;
  form: DecisionForm;
  /** Any other decision may be made, too. */
  isFree: boolean;
  /** undefined: nothing was filled in yet. */
  draft: Draft | undefined;
  fillIn: (draft: Draft) => void;
  decide: (decision: unknown) => void;
  /** Further keys of the page. */
  keys: Parameters<typeof useShortcuts>[0];
  above: ComponentChildren;
  /** Other ways to end with the ticket. */
  children: ComponentChildren;
}

/** What a queue's decisions are made of; without a form it takes some verdicts, and anything else as JSON. */
export function decisionForm(schema: object | null | undefined): DecisionForm {
  if (schema) return formOf(schema, texts.value);
  const { verdicts, choose } = texts.value.desk.decision;
  const options = Object.entries(verdicts).map(([verdict, label]) => [JSON.stringify({ verdict }), label] as const);
  return single({ kind: 'one', name: 'verdict', said: [choose, ''], empty: 'required', options });
}

/** A decision as a field of another form, and the decision that its value makes. */
export function decisionField(schema: object | null | undefined) {
  const { fields, decisionIn } = schema ? formOf(schema, texts.value) : freeForm();
  const { decision } = texts.value.items;
  return {
    field: { kind: 'object', name: 'decision', said: [decision, ''], fields } as const,
    decisionIn: (filled: unknown) => decisionIn(filled as Record<string, unknown>) as Schemas['Resolve']['decision'],
  };
}

/** Any decision there can be. */
function freeForm(): DecisionForm {
  const { items, desk } = texts.value;
  return single({ kind: 'json', name: 'json', said: [items.decision, desk.decision.json], empty: 'required' });
}

/** The API's errors by the paths of the form: `decision.a~1b` is about the field `a/b`. */
const errorsOf = ({ problem }: Held): FieldError[] =>
  (problem?.errors ?? [])
    .filter(({ path }) => /^decision(\.|$)/.test(path))
    .map(({ path, message }) => ({
      path: path.slice('decision.'.length).replaceAll('~1', '/').replaceAll('~0', '~'),
      message,
    }));

/** How the reviewer decides: by a key, or by filling in the queue's form. The verdicts are always in sight, below the rest. */
export function Decision({ held, form, isFree, draft: kept, fillIn, decide, keys, above, children }: Props) {
  const t = texts.value.desk.decision;
  const free = freeForm();
  const draft = kept ?? emptyDraft(form.fields);
  const verdict = verdictOf(form.fields);
  const rest = form.fields.filter((field) => field !== verdict);
  const hasRest = rest.some(({ kind }) => kind !== 'fixed');
  const [tried, setTried] = useState(false);
  const shownAt = useRef(performance.now());
  const isSeen = () => performance.now() - shownAt.current >= SEEN_MS;
  const valuesOf = ({ fields }: DecisionForm, from: Draft) => read(fields, from, texts.value.form.wrong);
  const attempt = (filled: Draft, of = form) => {
    if (!isSeen()) return;
    const { value, errors } = valuesOf(of, filled);
    const [wrong] = errors;
    if (wrong === undefined) return decide(of.decisionIn(value));
    setTried(true);
    document.querySelector<HTMLElement>(`[data-path="${CSS.escape(wrong.path)}"]`)?.focus();
  };
  const choose = (value: string) => {
    if (!verdict || !isSeen()) return;
    const filled = { ...draft, values: { ...draft.values, [verdict.name]: value } };
    fillIn(filled);
    attempt(filled);
  };
  const digits = (verdict?.options ?? []).map(([value, label], n) => ({
    key: String(n + 1),
    does: t.byKey(label),
    run: () => choose(value),
  }));
  useShortcuts([...digits, ...keys]);
  const own = (of: DecisionForm) => (tried ? valuesOf(of, draft).errors : []);
  const errors = own(form).length > 0 ? own(form) : errorsOf(held);
  const shared = { draft, onChange: fillIn };
  const chosen = verdict && draft.values[verdict.name];
  return (
    <Section title={texts.value.items.decision}>
      <div class="desk-fields">
        {above}
        <form id={FORM} class="desk-form stack" noValidate onSubmit={submitting(() => attempt(draft))}>
          {hasRest && <Fields fields={rest} errors={errors} {...shared} />}
        </form>
        {isFree && (
          <Free isOpen={Boolean(draft.values.json)} submit={() => attempt(draft, free)}>
            <Fields fields={free.fields} errors={own(free)} {...shared} />
          </Free>
        )}
      </div>
      <Bar
        verdict={verdict}
        error={errors.find(({ path }) => path === verdict?.name)?.message}
        isForm={!verdict || (hasRest && Boolean(chosen))}
        {...{ chosen, choose, children }}
      />
    </Section>
  );
}

interface BarProps {
  verdict: Verdict | undefined;
  chosen: unknown;
  choose: (value: string) => void;
  error: string | undefined;
  /** The form itself decides, too. */
  isForm: boolean;
  children: ComponentChildren;
}

function Bar({ verdict, isForm, children, ...rest }: BarProps) {
  const t = texts.value.desk.decision;
  return (
    <div class="desk-bar">
      {verdict && (
        <Verdicts
          label={verdict.said[0]}
          hint={verdict.said[1]}
          path={verdict.name}
          options={verdict.options}
          {...rest}
        />
      )}
      <div class="actions">
        {isForm && (
          <button
            type="submit"
            form={FORM}
            class="primary"
            aria-keyshortcuts="Control+Enter"
            // as in `Verdicts`
            onClick={(event) => event.detail > 1 && event.preventDefault()}
          >
            {t.decide} <kbd>{t.decideKeys}</kbd>
          </button>
        )}
        {children}
      </div>
    </div>
  );
}

/** A decision that is none of the verdicts. */
function Free({ isOpen, submit, children }: { isOpen: boolean; submit: () => void; children: ComponentChildren }) {
  const t = texts.value.desk.decision;
  return (
    <details class="desk-free" open={isOpen}>
      <summary>{t.free}</summary>
      <form class="desk-form stack" onSubmit={submitting(submit)}>
        {children}
        <Button does={t.decide} />
      </form>
    </details>
  );
}
