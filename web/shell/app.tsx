import { Component, type ComponentChildren } from 'preact';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { maySee, session } from '../api/session.ts';
import { Button, ForbiddenPage, NotFound } from '../components/page.tsx';
import { Toasts } from '../components/toasts.tsx';
import { pages } from '../pages/index.ts';
import { SignIn } from '../pages/sign-in/sign-in.tsx';
import { type RouteName, routes } from '../routes.ts';
import { texts } from '../texts/texts.ts';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { Navigation, seenPages } from './navigation.tsx';
import { Unsaved } from './unsaved.tsx';

/** The frame: header, navigation, and the page that the address names. */
export function App() {
  return (
    <LocationProvider scope={/^\/(?!(v1|docs|openapi\.json|metrics|livez|readyz)(\/|$))/}>
      <a class="skip" href="#content">
        {texts.value.shell.skip}
      </a>
      <Header />
      <div class="frame">
        {session.value && (
          <div class="side">
            <Navigation />
          </div>
        )}
        <main id="content" tabIndex={-1}>
          <Content />
        </main>
      </div>
      <Help />
      <Unsaved />
      <Toasts />
    </LocationProvider>
  );
}

const names = Object.keys(routes) as RouteName[];

function Content() {
  const { path } = useLocation();
  if (!session.value) return <SignIn />;
  return (
    <Boundary place={path}>
      <Router onRouteChange={focusPage} onLoadEnd={focusPage}>
        {names.map((name) => (
          <Route key={name} path={routes[name].path} component={guarded[name]} />
        ))}
        <Route default component={NotFound} />
      </Router>
    </Boundary>
  );
}

/** Each page as its role sees it. Made once: another function would be another component, and lose its state. */
const guarded = Object.fromEntries(
  names.map((name) => [
    name,
    () => {
      const who = session.value;
      const Shown = pages[name];
      if (!who) return null;
      return maySee(who, routes[name]) ? <Shown /> : <Forbidden isStart={name === 'home'} />;
    },
  ]),
) as Record<RouteName, () => preact.JSX.Element | null>;

/** Who may not see the start begins with the first page of their own. */
function Forbidden({ isStart }: { isStart: boolean }) {
  const t = texts.value.shell;
  const { route } = useLocation();
  const own = seenPages()[0];
  if (isStart && own) {
    route(own.path, true);
    return null;
  }
  return <ForbiddenPage title={own ? t.forbidden : t.nothingForRole} />;
}

let first = true;

/** After a change of pages: to the heading, so that screen readers and the Tab key go on from there, and to the top. */
function focusPage(): void {
  // the page that is loaded first has its focus where the browser puts it
  if (first) {
    first = false;
    return;
  }
  requestAnimationFrame(() => {
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  });
}

interface Props {
  /** Where it happened; a fault of one page is none of the next. */
  place: string;
  children: ComponentChildren;
}

/** Shows what went wrong in a page in place of it, and keeps the frame around it. */
class Boundary extends Component<Props, { error: Error | null }> {
  override state = { error: null as Error | null };

  override componentDidCatch(error: Error): void {
    this.setState({ error });
    // for the browser's console, and for tests, which fail by it
    reportError(error);
  }

  override componentDidUpdate(before: Props): void {
    if (before.place !== this.props.place && this.state.error) this.setState({ error: null });
  }

  override render({ children }: Props, { error }: { error: Error | null }) {
    if (!error) return children;
    const t = texts.value.shell;
    return (
      <div class="note bad" role="alert">
        <h1 tabIndex={-1}>{t.crashed}</h1>
        <p>{t.crashedHint}</p>
        <pre>{error.message}</pre>
        <Button does={t.reload} run={() => location.reload()} />
      </div>
    );
  }
}
