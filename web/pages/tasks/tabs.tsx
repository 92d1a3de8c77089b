import { useLocation } from 'preact-iso';
import { texts } from '../../texts/texts.ts';
import './tasks.css';

/** The pages about tasks. */
export function Tabs() {
  const t = texts.value;
  const { path } = useLocation();
  const tabs = [
    ['/tasks', t.tasks.tabs],
    ['/tasks/calendar', t.pages.taskCalendar],
    ['/tasks/groups', t.taskLists.groups],
    ['/tasks/templates', t.taskLists.templates],
    ['/tasks/log', t.taskLists.log],
  ] as const;
  return (
    <nav class="tabs" aria-label={t.tasks.tabs}>
      {tabs.map(([to, label]) => (
        <a key={to} href={to} aria-current={path === to ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
