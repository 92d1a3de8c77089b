import { useLocation } from 'preact-iso';
import { texts } from '../../texts/texts.ts';
import './tasks.css';

/** The pages about tasks. */
export function Tabs() {
  const t = texts.value;
  const { path } = useLocation();
  const tabs = [
    ['/tasks', t.pages.tasks],
    ['/tasks/calendar', t.pages.taskCalendar],
    ['/tasks/groups', t.pages.taskGroups],
    ['/tasks/templates', t.pages.taskTemplates],
    ['/tasks/log', t.pages.dispatchLog],
  ] as const;
  // of a page that is none of these, the one below which it is; a task is one of all
  const [, inside] = tabs.map(([to]) => to).filter((to) => path === to || path.startsWith(`${to}/`));
  const current = inside ?? '/tasks';
  return (
    <nav class="tabs" aria-label={t.pages.tasks}>
      {tabs.map(([to, label]) => (
        <a key={to} href={to} aria-current={to === current ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
