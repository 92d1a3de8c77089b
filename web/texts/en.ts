import { body } from './en/body.ts';
import { common } from './en/common.ts';
import { deliveries } from './en/deliveries.ts';
import { desk } from './en/desk.ts';
import { home } from './en/home.ts';
import { items } from './en/items.ts';
import { json } from './en/json.ts';
import { jury } from './en/jury.ts';
import { lists } from './en/lists.ts';
import { reviews } from './en/reviews.ts';
import { shell } from './en/shell.ts';
import { signIn } from './en/sign-in.ts';

/** Every text of the console in English; other languages have exactly these. One file a page in texts/en/. */
export const en = {
  /** Titles of the pages, by the names in web/routes.ts. */
  pages: {
    home: 'Overview',
    search: 'Search',
    deliveries: 'Deliveries',
    reviews: 'Reviews',
    review: 'Review',
    queue: 'Queue',
    item: 'Item',
    desk: 'Review desk',
    deskQueue: 'Review desk',
    jury: 'Jury desk',
    juryCourt: 'Jury desk',
  },
  common,
  deliveries,
  home,
  items,
  json,
  lists,
  reviews,
  body,
  desk,
  jury,
  shell,
  signIn,
};

export type Texts = typeof en;
