import type { components } from '../clients/typescript/src/openapi.ts';

export type Role = components['schemas']['Role'];

export interface PageRoute {
  /** With `:name` for parameters. The server answers these paths with the console, all others with the API. */
  path: string;
  /** The group of the navigation in which it stands; without it, only links lead there. */
  nav?: 'watch' | 'work' | 'manage';
  /** Who sees it beside `admin`, who sees all. */
  roles: readonly Role[] | 'everybody';
  /** Not for keys that are bound to queues. */
  unbound?: true;
}

/**
 * Every page of the console. Its component is named in web/pages/index.ts, its title in `pages` of web/texts. The order is that
 * of the navigation; the first page that a person may see is where they begin.
 */
export const routes = {
  home: { path: '/', nav: 'watch', roles: ['producer', 'agent'] },
  numbers: { path: '/numbers', nav: 'watch', roles: ['producer', 'agent'] },
  search: { path: '/search', nav: 'watch', roles: ['producer', 'agent', 'consumer'] },
  deliveries: { path: '/deliveries', nav: 'watch', roles: ['producer', 'agent'] },
  reviews: { path: '/reviews', nav: 'watch', roles: ['producer', 'agent'], unbound: true },
  review: { path: '/reviews/:id', roles: ['producer', 'agent'], unbound: true },
  queue: { path: '/queues/:kind/:queue', roles: ['producer', 'agent', 'consumer'] },
  quality: { path: '/queues/ticket/:queue/quality', roles: ['supervisor'] },
  service: { path: '/queues/ticket/:queue/service', roles: ['producer', 'agent'] },
  item: { path: '/items/:kind/:id', roles: ['producer', 'agent', 'consumer'] },
  desk: { path: '/desk', nav: 'work', roles: ['reviewer'] },
  deskQueue: { path: '/desk/:queue', roles: ['reviewer'] },
  mine: { path: '/mine', nav: 'work', roles: ['reviewer'] },
  jury: { path: '/jury', nav: 'work', roles: ['reviewer'] },
  juryCourt: { path: '/jury/:court', roles: ['reviewer'] },
  tasks: { path: '/tasks', nav: 'manage', roles: ['producer', 'agent'] },
  newTask: { path: '/tasks/new', roles: ['producer'] },
  editTask: { path: '/tasks/edit/:id', roles: ['producer', 'agent'] },
  taskCalendar: { path: '/tasks/calendar', roles: ['producer', 'agent'] },
  taskGroups: { path: '/tasks/groups', roles: ['producer', 'agent'] },
  taskGroup: { path: '/tasks/groups/:gid', roles: ['producer', 'agent'] },
  taskTemplates: { path: '/tasks/templates', roles: ['producer', 'agent'] },
  dispatchLog: { path: '/tasks/log', roles: ['producer', 'agent'] },
  settings: { path: '/settings', nav: 'manage', roles: [] },
  queueSettings: { path: '/settings/queues/:queue', roles: [] },
  topicSettings: { path: '/settings/topics/:topic', roles: [] },
  courtSettings: { path: '/settings/courts/:court', roles: [] },
  schedules: { path: '/schedules', nav: 'manage', roles: ['producer'] },
  reviewers: { path: '/reviewers', nav: 'manage', roles: ['supervisor'], unbound: true },
  keys: { path: '/keys', nav: 'manage', roles: [], unbound: true },
  adminLog: { path: '/admin-log', nav: 'manage', roles: [], unbound: true },
} as const satisfies Record<string, PageRoute>;

export type RouteName = keyof typeof routes;
