import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';
import type { Resource } from '../api/resource.ts';
import { session } from '../api/session.ts';
import { language, texts } from '../texts/texts.ts';
import { useShortcuts } from './keys.ts';
import './facts.css';

interface Props {
  title: string;
  /** Before the title of the tab. */
  mark?: string;
  /** Buttons beside the heading. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A page's heading and content. The heading takes the focus when someone comes to the page (web/shell/app.tsx). */
export function Page({ title, mark = '', actions, children }: Props) {
  // with the heading, not a frame later: a screen reader that follows it reads the title, too
  useLayoutEffect(() => {
    document.title = `${mark} ${title} · Docket`.trim();
  }, [title, mark]);
  return (
    <>
      <header class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

interface ButtonProps {
  /** What it says that it does. */
  does: ComponentChildren;
  /** Left out: it sends its form. */
  run?: (() => unknown) | undefined;
  look?: 'primary' | 'danger' | 'quiet' | '' | undefined;
  /** What it does it to, where several say the same; for screen readers. */
  about?: string | undefined;
  /** A key of the page that does the same. */
  shortcut?: string;
  disabled?: boolean;
  title?: string;
  /** The form that it sends from outside of it. */
  form?: string;
}

/** A button that says what it does. */
export function Button({ does, run, look, about, shortcut, ...rest }: ButtonProps) {
  return (
    <button
      type={run ? 'button' : 'submit'}
      class={look}
      aria-label={about && `${does}: ${about}`}
      aria-keyshortcuts={shortcut}
      onClick={run && (() => void run())}
      {...rest}
    >
      {does}
      {shortcut && (
        <>
          {' '}
          <kbd>{shortcut}</kbd>
        </>
      )}
    </button>
  );
}

/** What a form does when it is sent: the page stays. */
export const submitting = (work: (form: HTMLFormElement) => unknown) => (event: SubmitEvent) => {
  event.preventDefault();
  void work(event.currentTarget as HTMLFormElement);
};

/** A button that asks again for what the page shows; the key `r` does so, too. */
export function Refresh({ run }: { run: () => void }) {
  const does = texts.value.common.refresh;
  useShortcuts([{ key: 'r', does, run }]);
  return <Button does={does} run={run} />;
}

/** A titled part of a page, which screen readers know as a region of that name. */
export function Section({ title, actions, children }: Props) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Instead of a page whose files the server does not give. */
export function NotLoaded() {
  const t = texts.value.shell;
  return (
    <Page title={t.notLoaded}>
      <p>{t.notLoadedHint}</p>
      <Button does={t.reload} run={() => location.reload()} />
    </Page>
  );
}

/** Instead of a page at an address that has none. */
export function NotFound() {
  const t = texts.value.shell;
  return (
    <Page title={t.notFound}>
      <p>{t.notFoundHint}</p>
      <a href="/">{t.toStart}</a>
    </Page>
  );
}

/** Instead of a page that is for other roles. */
export function ForbiddenPage({ title = texts.value.shell.forbidden }) {
  const t = texts.value.shell;
  return (
    <Page title={title}>
      <p>{t.forbiddenHint(session.value?.role ?? '')}</p>
    </Page>
  );
}

interface ProblemProps {
  problem: Problem;
  retry?: (() => void) | undefined;
  /** What it means here. */
  children?: ComponentChildren;
}

/** Why a call failed: in plain words of the reader's language; behind them in the API's own, which are English, with what its log knows it by. */
export function ProblemNote({ problem, retry, children }: ProblemProps) {
  const t = texts.value.common;
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{t.problems[problem.code] ?? t.problems.other}</strong>
      </p>
      {children}
      {problem.code !== 'unreachable' && <Detail problem={problem} />}
      {retry && <Button does={t.retry} run={retry} />}
    </div>
  );
}

function Detail({ problem }: { problem: Problem }) {
  const t = texts.value.common;
  return (
    <details open={language.value === 'en'}>
      <summary>{t.detail}</summary>
      {problem.errors.length > 0 ? (
        <ul>
          {problem.errors.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      ) : (
        problem.detail !== '' && <p>{problem.detail}</p>
      )}
      <p class="muted">
        <code>{problem.code}</code>
        {problem.requestId && (
          <>
            {' · '}
            {t.requestId} <code>{problem.requestId}</code>
          </>
        )}
      </p>
    </details>
  );
}

/** The same in one sentence, for a toast. */
export function saidOf(error: unknown): string {
  const { problems } = texts.value.common;
  const { code, detail } = problemOf(error);
  return `${problems[code] ?? problems.other} ${code === 'unreachable' ? '' : detail}`.trim();
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function Loading() {
  return (
    <output class="loading" aria-live="polite">
      {texts.value.common.loading}
    </output>
  );
}

interface LoadedProps<T> {
  of: Resource<T>;
  children: (data: T) => ComponentChildren;
}

/** What a resource answered; before that, that it loads, or why it didn't. A later failure stands above the old answer. */
export function Loaded<T>({ of: { data, error, refresh }, children }: LoadedProps<T>) {
  return (
    <>
      {error && <ProblemNote problem={error} retry={refresh} />}
      {data !== undefined ? children(data) : !error && <Loading />}
    </>
  );
}

/** A name and its value; null is left out. */
export type Fact = [label: string, value: ComponentChildren] | null | undefined | false;

type FactsProps = { facts: readonly Fact[]; look?: string; label?: string };

export function Facts({ facts, look = 'facts panel-body', label }: FactsProps) {
  const shown = facts.filter((fact): fact is [string, ComponentChildren] => Boolean(fact));
  if (shown.length === 0) return null;
  return (
    <dl class={look} aria-label={label}>
      {shown.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** One that leads somewhere. */
export const linked = (label: string, path: string, name: string): Fact => [
  label,
  <a key="to" href={path}>
    {name}
  </a>,
];
