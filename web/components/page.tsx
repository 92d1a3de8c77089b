import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect } from 'preact/hooks';
import { session } from '../api/session.ts';
import { texts } from '../texts/texts.ts';

interface Props {
  title: string;
  /** Before the title of the tab. */
  mark?: string;
  /** Buttons beside the heading. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A page's heading and content. The heading takes the focus when someone comes to the page (web/shell/focus.ts). */
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
      <button type="button" onClick={() => location.reload()}>
        {t.reload}
      </button>
    </Page>
  );
}

/** Instead of a page that is for other roles. */
export function ForbiddenPage() {
  const t = texts.value.shell;
  return (
    <Page title={t.forbidden}>
      <p>{t.forbiddenHint(session.value?.role ?? '')}</p>
    </Page>
  );
}
