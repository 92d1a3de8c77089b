import { adminLog } from './en/admin-log.ts';
import { body } from './en/body.ts';
import { common } from './en/common.ts';
import { courtSettings } from './en/court-settings.ts';
import { deliveries } from './en/deliveries.ts';
import { desk } from './en/desk.ts';
import { form } from './en/form.ts';
import { home } from './en/home.ts';
import { items } from './en/items.ts';
import { jury } from './en/jury.ts';
import { keys } from './en/keys.ts';
import { lists } from './en/lists.ts';
import { numbers } from './en/numbers.ts';
import { mine, reviewers } from './en/reviewers.ts';
import { reviews } from './en/reviews.ts';
import { schedules } from './en/schedules.ts';
import { queueSettings, settings, topicSettings } from './en/settings.ts';
import { shell } from './en/shell.ts';
import { signIn } from './en/sign-in.ts';
import { calendar, taskLists, tasks } from './en/tasks.ts';

/** Every text of the console in English; other languages have exactly these. One file a page in texts/en/. */
export const en = {
  /** Titles of the pages, by the names in web/routes.ts. */
  pages: {
    home: 'Overview',
    numbers: 'Numbers',
    search: 'Search',
    deliveries: 'Deliveries',
    reviews: 'Reviews',
    review: 'Review',
    queue: 'Queue',
    quality: 'Quality',
    service: 'Service',
    item: 'Item',
    desk: 'Review desk',
    deskQueue: 'Review desk',
    mine: 'My decisions',
    jury: 'Jury desk',
    juryCourt: 'Jury desk',
    tasks: 'Tasks',
    newTask: 'New task',
    editTask: 'A task',
    taskCalendar: 'Calendar',
    taskGroups: 'Groups',
    taskGroup: 'A group',
    taskTemplates: 'Templates',
    dispatchLog: 'Dispatch log',
    settings: 'Settings',
    queueSettings: 'Settings of a queue',
    topicSettings: 'Settings of a topic',
    courtSettings: 'Settings of a court',
    schedules: 'Schedules',
    reviewers: 'Reviewers',
    keys: 'Keys',
    adminLog: 'Admin log',
  },
  adminLog,
  body,
  calendar,
  common,
  courtSettings,
  deliveries,
  desk,
  form,
  home,
  items,
  jury,
  keys,
  lists,
  mine,
  numbers,
  queueSettings,
  reviewers,
  reviews,
  schedules,
  settings,
  shell,
  signIn,
  taskLists,
  tasks,
  topicSettings,
};

export type Texts = typeof en;
