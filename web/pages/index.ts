import type { FunctionComponent } from 'preact';
import { lazy } from 'preact-iso';
import { NotLoaded } from '../components/page.tsx';
import type { RouteName } from '../routes.ts';

/** Its file may be gone: that of a newer release has another name. `lazy` itself would wait for it for ever. */
const page = (load: () => Promise<FunctionComponent>) => lazy(() => load().catch(() => NotLoaded));

/** The component of each page. A page is loaded when someone first goes there. */
export const pages: Record<RouteName, FunctionComponent> = {
  home: page(() => import('./home/home.tsx').then((m) => m.Home)),
  numbers: page(() => import('./numbers/numbers.tsx').then((m) => m.Numbers)),
  quality: page(() => import('./numbers/quality.tsx').then((m) => m.Quality)),
  service: page(() => import('./numbers/service.tsx').then((m) => m.Service)),
  item: page(() => import('./item/item.tsx').then((m) => m.Item)),
  deliveries: page(() => import('./deliveries/deliveries.tsx').then((m) => m.Deliveries)),
  reviews: page(() => import('./reviews/reviews.tsx').then((m) => m.Reviews)),
  review: page(() => import('./reviews/review.tsx').then((m) => m.Review)),
  queue: page(() => import('./lists/queue.tsx').then((m) => m.Queue)),
  search: page(() => import('./lists/search.tsx').then((m) => m.Search)),
  desk: page(() => import('./desk/queues.tsx').then((m) => m.DeskQueues)),
  deskQueue: page(() => import('./desk/page.tsx').then((m) => m.DeskPage)),
  mine: page(() => import('./desk/mine.tsx').then((m) => m.Mine)),
  jury: page(() => import('./jury/courts.tsx').then((m) => m.JuryCourts)),
  juryCourt: page(() => import('./jury/page.tsx').then((m) => m.JuryPage)),
  tasks: page(() => import('./tasks/tasks.tsx').then((m) => m.Tasks)),
  newTask: page(() => import('./tasks/edit.tsx').then((m) => m.NewTask)),
  editTask: page(() => import('./tasks/edit.tsx').then((m) => m.EditTask)),
  taskCalendar: page(() => import('./tasks/calendar.tsx').then((m) => m.TaskCalendar)),
  taskGroups: page(() => import('./tasks/groups.tsx').then((m) => m.TaskGroups)),
  taskGroup: page(() => import('./tasks/group.tsx').then((m) => m.TaskGroup)),
  taskTemplates: page(() => import('./tasks/templates.tsx').then((m) => m.TaskTemplates)),
  dispatchLog: page(() => import('./tasks/log.tsx').then((m) => m.DispatchLog)),
  settings: page(() => import('./settings/settings.tsx').then((m) => m.Settings)),
  queueSettings: page(() => import('./settings/one.tsx').then((m) => m.QueueSettings)),
  topicSettings: page(() => import('./settings/one.tsx').then((m) => m.TopicSettings)),
  courtSettings: page(() => import('./settings/one.tsx').then((m) => m.CourtSettings)),
  schedules: page(() => import('./schedules/schedules.tsx').then((m) => m.Schedules)),
  reviewers: page(() => import('./reviewers/reviewers.tsx').then((m) => m.Reviewers)),
  adminLog: page(() => import('./admin-log/admin-log.tsx').then((m) => m.AdminLog)),
  keys: page(() => import('./keys/keys.tsx').then((m) => m.Keys)),
};
