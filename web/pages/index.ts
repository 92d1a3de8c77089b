import type { FunctionComponent } from 'preact';
import { lazy } from 'preact-iso';
import type { RouteName } from '../routes.ts';

/** The component of each page. A page is loaded when somebody first goes there. */
export const pages: Record<RouteName, FunctionComponent> = {
  home: lazy(() => import('./home/home.tsx').then((m) => m.Home)),
  desk: lazy(() => import('./desk/queues.tsx').then((m) => m.DeskQueues)),
  deskQueue: lazy(() => import('./desk/page.tsx').then((m) => m.DeskPage)),
  jury: lazy(() => import('./jury/courts.tsx').then((m) => m.JuryCourts)),
  juryCourt: lazy(() => import('./jury/page.tsx').then((m) => m.JuryPage)),
};
