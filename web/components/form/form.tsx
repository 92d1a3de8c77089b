import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Attempt, useAttempt } from '../../api/attempt.ts';
import { CallError, ownProblem } from '../../api/problem.ts';
import { texts } from '../../texts/texts.ts';
import { useUnsaved } from '../../unsaved.ts';
import { ProblemNote, Section, submitting } from '../page.tsx';
import { type Draft, draftOf, emptyDraft, type FieldError, read } from './draft.ts';
import { Fields } from './fields.tsx';
import type { FieldSpec, Given, Part } from './spec.ts';

/** The errors of its problem are shown at the fields. */
export interface FormState extends Attempt {
  draft: Draft;
  setDraft: (draft: Draft) => void;
  /** What the inputs say, and which of them say nothing that could be sent. */
  value: Given;
  errors: FieldError[];
  /** Something stands in the inputs that was not there at first, and has not been saved. */
  isTouched: boolean;
  /** Inputs as of these values; null: of a new object. */
  reset: (given: Given | null) => void;
  /** Takes the saved values as the new base; keeps what was typed since. */
  saved: (given: Given | null) => void;
  /** What stands in the inputs has been saved. */
  settle: () => void;
  /** An attempt with what the inputs say, if nothing is wrong in them. */
  submit: (use: (value: Given) => Promise<void>) => Promise<void>;
}

/** A refusal by the console itself, as the API would say it. */
export const refusal = (code: string, errors: FieldError[]): CallError => new CallError(ownProblem(code, '', errors));

/** The inputs of an object, and sending it. */
export function useForm(fields: readonly FieldSpec[], given: Given | null): FormState {
  const start = (from: Given | null) => (from ? draftOf(fields, from) : emptyDraft(fields));
  const [kept, setKept] = useState(() => start(given));
  const [draft, setDraft] = useState(kept);
  const sent = useRef(draft);
  const { busy, problem, attempt, forget } = useAttempt();
  const { value, errors } = read(fields, draft, texts.value.form.wrong);
  return {
    ...{ draft, setDraft, value, errors, problem, busy, attempt, forget },
    isTouched: JSON.stringify(draft) !== JSON.stringify(kept),
    reset: (from) => {
      const fresh = start(from);
      setKept(fresh);
      setDraft(fresh);
    },
    saved: (from) => {
      const fresh = start(from);
      setKept(fresh);
      setDraft((now) => rebased(now, sent.current, fresh));
    },
    settle: () => setKept(draft),
    submit: (use) =>
      attempt(async () => {
        if (errors.length > 0) throw refusal('invalid_request', errors);
        sent.current = draft;
        await use(value);
      }),
  };
}

/** The inputs of what was saved, with what was typed since it was sent. */
function rebased(now: Draft, sent: Draft, fresh: Draft): Draft {
  const typed = Object.entries(now.values).filter(([name, value]) => value !== sent.values[name]);
  return { base: fresh.base, values: { ...fresh.values, ...Object.fromEntries(typed) } };
}

interface Props {
  id?: string;
  of: FormState;
  onSubmit: () => void;
  children: ComponentChildren;
  /** Below what went wrong: the buttons. */
  actions?: ComponentChildren;
  /** There is something to save: the buttons stay in sight. */
  isChanged?: boolean;
}

interface PartsProps {
  parts: readonly Part[];
  draft: Draft;
  onChange: (draft: Draft) => void;
  problem: FormState['problem'];
}

/** The titled parts of a form. */
export const Parts = ({ parts, draft, onChange, problem }: PartsProps) =>
  parts.map(({ title, fields }) => (
    <Section key={title} title={title}>
      <Fields fields={fields} draft={draft} onChange={onChange} errors={problem?.errors ?? []} />
    </Section>
  ));

/** A form that says itself what is wrong: the browser's own bubbles know only the first. Whoever leaves it unsaved is asked. */
export function Form({ id, of: { problem, isTouched }, onSubmit, children, actions, isChanged = false }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useUnsaved(isTouched);
  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  return (
    <form id={id} ref={form} noValidate onSubmit={submitting(onSubmit)}>
      {children}
      {problem && <ProblemNote problem={problem} />}
      {actions && <div class={`form-end actions ${isChanged ? 'changed' : ''}`}>{actions}</div>}
    </form>
  );
}
