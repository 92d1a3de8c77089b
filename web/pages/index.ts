import type { FunctionComponent } from 'preact';
import { lazy } from 'preact-iso';
import type { RouteName } from '../routes.ts';

/** The component of each page. A page is loaded when somebody first goes there. */
export const pages: Record<RouteName, FunctionComponent> = {
  home: lazy(() => import('./home/home.tsx').then((m) => m.Home)),
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
};
