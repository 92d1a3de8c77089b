import type { Texts } from './en.ts';
import { body } from './zh/body.ts';
import { common } from './zh/common.ts';
import { deliveries } from './zh/deliveries.ts';
import { desk } from './zh/desk.ts';
import { home } from './zh/home.ts';
import { items } from './zh/items.ts';
import { json } from './zh/json.ts';
import { jury } from './zh/jury.ts';
import { lists } from './zh/lists.ts';
import { reviews } from './zh/reviews.ts';
import { shell } from './zh/shell.ts';
import { signIn } from './zh/sign-in.ts';

export const zh: Texts = {
  pages: {
    home: '概览',
    search: '搜索',
    deliveries: '投递',
    reviews: '评价',
    review: '评价',
    queue: '队列',
    item: '项目',
    desk: '审核台',
    deskQueue: '审核台',
    jury: '众裁台',
    juryCourt: '众裁台',
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
