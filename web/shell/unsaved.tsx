import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Dialog } from '../components/dialog.tsx';
import { Button } from '../components/page.tsx';
import { texts } from '../texts/texts.ts';
import { forget, isUnsaved, leaving } from '../unsaved.ts';

/** Asks before a link, the browser's Back or a closed form loses what is not saved. */
export function Unsaved() {
  const { url, route } = useLocation();
  const t = texts.value.form.unsaved;
  const here = useRef(url);
  here.current = url;
  // before that of the router above, which would be called first: of `popstate`, capturing says nothing
  useLayoutEffect(() => {
    const clicked = (event: MouseEvent) => {
      const to = isUnsaved() ? pageOf(event) : null;
      if (to === null || to === here.current) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      leaving.value = () => {
        forget();
        route(to);
      };
    };
    const moved = (event: PopStateEvent) => {
      if (!isUnsaved() || location.pathname + location.search === here.current) return;
      event.stopImmediatePropagation();
      // the browser has gone already; the address of the form comes back on top
      history.pushState(null, '', here.current);
      leaving.value = () => {
        forget();
        history.back();
      };
    };
    addEventListener('click', clicked, { capture: true });
    addEventListener('popstate', moved, { capture: true });
    return () => {
      removeEventListener('click', clicked, { capture: true });
      removeEventListener('popstate', moved, { capture: true });
    };
  }, []);
  const stay = () => {
    leaving.value = null;
  };
  const leave = () => {
    const go = leaving.value;
    stay();
    // forgets nothing itself: after what can fail, such as a sign-out, the form may still be there
    go?.();
  };
  const actions = (
    <>
      <Button does={t.stay} run={stay} look="primary" />
      <Button does={t.leave} run={leave} look="danger" />
    </>
  );
  return (
    <Dialog title={t.title} open={leaving.value !== null} onClose={stay} actions={actions}>
      <p>{t.lost}</p>
    </Dialog>
  );
}

/** The page of the console to which a click leads in this tab; null: to none. */
function pageOf(event: MouseEvent): string | null {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement);
  if (!link || link.origin !== location.origin || link.target !== '') return null;
  return link.pathname + link.search;
}
