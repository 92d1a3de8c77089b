import { useLocation } from 'preact-iso';
import { maySee, session } from '../api/session.ts';
import { type PageRoute, type RouteName, routes } from '../routes.ts';
import { texts } from '../texts/texts.ts';

const GROUPS = ['watch', 'work', 'manage'] as const;

/** Every page that the session sees and that stands in the navigation, by the order of the route table. */
export function seenPages(): (PageRoute & { name: RouteName })[] {
  const who = session.value;
  if (!who) return [];
  const all = Object.entries(routes) as [RouteName, PageRoute][];
  return all.map(([name, route]) => ({ name, ...route })).filter((route) => route.nav && maySee(who, route));
}

export function Navigation({ onChoose }: { onChoose?: () => void }) {
  const { path } = useLocation();
  const t = texts.value;
  const seen = seenPages();
  return (
    <nav id="navigation" aria-label={t.shell.navigation}>
      {GROUPS.map((group) => {
        const links = seen.filter((route) => route.nav === group);
        if (links.length === 0) return null;
        return (
          <div key={group} class="nav-group">
            <p class="nav-title">{t.shell.groups[group]}</p>
            <ul>
              {links.map(({ name, path: to }) => (
                <li key={name}>
                  <a href={to} aria-current={isWithin(path, to) ? 'page' : undefined} onClick={onChoose}>
                    {t.pages[name as keyof typeof t.pages]}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
      <a class="nav-docs" href="/docs" target="_blank" rel="noreferrer">
        {t.shell.apiDocs}
      </a>
    </nav>
  );
}

const isWithin = (path: string, to: string) => path === to || (to !== '/' && path.startsWith(`${to}/`));
