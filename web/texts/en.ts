import * as frame from './en/frame.ts';
import * as items from './en/items.ts';
import * as manage from './en/manage.ts';
import * as settings from './en/settings.ts';
import * as watch from './en/watch.ts';
import * as work from './en/work.ts';

/** Every text of the console in English; other languages have exactly these. */
export const en = {
  /** Titles of pages that are not of one thing only, by the names in web/routes.ts. */
  pages: {
    home: 'Overview',
    numbers: 'Numbers',
    search: 'Search',
    deliveries: 'Deliveries',
    reviews: 'Reviews',
    quality: 'Quality',
    service: 'Service',
    desk: 'Review desk',
    mine: 'My decisions',
    jury: 'Jury desk',
    tasks: 'Tasks',
    newTask: 'New task',
    taskCalendar: 'Calendar',
    taskGroups: 'Groups',
    taskTemplates: 'Templates',
    dispatchLog: 'Dispatch log',
    settings: 'Settings',
    queueSettings: 'Queue settings',
    topicSettings: 'Topic settings',
    courtSettings: 'Court settings',
    schedules: 'Schedules',
    reviewers: 'Reviewers',
    keys: 'Keys',
    adminLog: 'Admin log',
  },
  ...frame,
  ...items,
  ...manage,
  ...settings,
  ...watch,
  ...work,
};

export type Texts = typeof en;
