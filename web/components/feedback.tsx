import type { ComponentChildren } from 'preact';
import { type Problem, problemOf } from '../api/problem.ts';
import type { Resource } from '../api/resource.ts';
import { language, texts } from '../texts/texts.ts';

/** Why a call failed: in plain words of the reader's language; behind them in the API's own, which are English, with what its log knows it by. */
export function ProblemNote({ problem, retry }: { problem: Problem; retry?: (() => void) | undefined }) {
  const t = texts.value.common;
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{t.problems[problem.code] ?? t.problems.other}</strong>
      </p>
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
      {retry && (
        <button type="button" onClick={retry}>
          {t.retry}
        </button>
      )}
    </div>
  );
}

/** The same in one sentence, for a toast. */
export function saidOf(error: unknown): string {
  const { problems } = texts.value.common;
  const { code, detail } = problemOf(error);
  return `${problems[code] ?? problems.other} ${detail}`.trim();
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
