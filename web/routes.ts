import type { components } from '../clients/typescript/src/openapi.ts';

type Role = components['schemas']['Role'];

export interface PageRoute {
  /** With `:name` for parameters. The server answers these paths with the console, all others with the API. */
  path: string;
  /** The group of the navigation in which it stands; without it, only links lead there. */
  nav?: 'watch' | 'work' | 'manage';
  /** Who sees it beside `admin`, who sees all. */
  roles: readonly Role[] | 'everybody';
}

/**
 * Every page of the console. Its component is named in web/pages/index.ts, its title in `pages` of web/texts. The order is that
 * of the navigation; the first page that a person may see is where they begin.
 */
export const routes = {
  home: { path: '/', nav: 'watch', roles: ['producer', 'agent'] },
  desk: { path: '/desk', nav: 'work', roles: ['reviewer'] },
  deskQueue: { path: '/desk/:queue', roles: ['reviewer'] },
  jury: { path: '/jury', nav: 'work', roles: ['reviewer'] },
  juryCourt: { path: '/jury/:court', roles: ['reviewer'] },
} as const satisfies Record<string, PageRoute>;

export type RouteName = keyof typeof routes;
