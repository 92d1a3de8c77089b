import { common } from './en/common.ts';
import { courtSettings } from './en/court-settings.ts';
import { form } from './en/form.ts';
import { home } from './en/home.ts';
import { keys } from './en/keys.ts';
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
    keys: 'Keys',
  },
  calendar,
  common,
  courtSettings,
  form,
  home,
  keys,
  queueSettings,
  schedules,
  settings,
  shell,
  signIn,
  taskLists,
  tasks,
  topicSettings,
};

export type Texts = typeof en;
