import type { FunctionComponent } from 'preact';
import { lazy } from 'preact-iso';
import type { RouteName } from '../routes.ts';

/** The component of each page. A page is loaded when someone first goes there. */
export const pages: Record<RouteName, FunctionComponent> = {
  home: lazy(() => import('./home/home.tsx').then((m) => m.Home)),
  numbers: lazy(() => import('./numbers/numbers.tsx').then((m) => m.Numbers)),
  item: lazy(() => import('./item/item.tsx').then((m) => m.Item)),
  deliveries: lazy(() => import('./deliveries/deliveries.tsx').then((m) => m.Deliveries)),
  reviews: lazy(() => import('./reviews/reviews.tsx').then((m) => m.Reviews)),
  review: lazy(() => import('./reviews/review.tsx').then((m) => m.Review)),
  queue: lazy(() => import('./lists/queue.tsx').then((m) => m.Queue)),
  search: lazy(() => import('./lists/search.tsx').then((m) => m.Search)),
  desk: lazy(() => import('./desk/queues.tsx').then((m) => m.DeskQueues)),
  deskQueue: lazy(() => import('./desk/page.tsx').then((m) => m.DeskPage)),
  jury: lazy(() => import('./jury/courts.tsx').then((m) => m.JuryCourts)),
  juryCourt: lazy(() => import('./jury/page.tsx').then((m) => m.JuryPage)),
  tasks: lazy(() => import('./tasks/tasks.tsx').then((m) => m.Tasks)),
  newTask: lazy(() => import('./tasks/edit.tsx').then((m) => m.NewTask)),
  editTask: lazy(() => import('./tasks/edit.tsx').then((m) => m.EditTask)),
  taskCalendar: lazy(() => import('./tasks/calendar.tsx').then((m) => m.TaskCalendar)),
  taskGroups: lazy(() => import('./tasks/groups.tsx').then((m) => m.TaskGroups)),
  taskGroup: lazy(() => import('./tasks/group.tsx').then((m) => m.TaskGroup)),
  taskTemplates: lazy(() => import('./tasks/templates.tsx').then((m) => m.TaskTemplates)),
  dispatchLog: lazy(() => import('./tasks/log.tsx').then((m) => m.DispatchLog)),
  settings: lazy(() => import('./settings/settings.tsx').then((m) => m.Settings)),
  queueSettings: lazy(() => import('./settings/one.tsx').then((m) => m.QueueSettings)),
  topicSettings: lazy(() => import('./settings/one.tsx').then((m) => m.TopicSettings)),
  courtSettings: lazy(() => import('./settings/one.tsx').then((m) => m.CourtSettings)),
  schedules: lazy(() => import('./schedules/schedules.tsx').then((m) => m.Schedules)),
  keys: lazy(() => import('./keys/keys.tsx').then((m) => m.Keys)),
};
