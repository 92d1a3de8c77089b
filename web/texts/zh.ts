import type { Texts } from './en.ts';
import { adminLog } from './zh/admin-log.ts';
import { body } from './zh/body.ts';
import { common } from './zh/common.ts';
import { courtSettings } from './zh/court-settings.ts';
import { deliveries } from './zh/deliveries.ts';
import { desk } from './zh/desk.ts';
import { form } from './zh/form.ts';
import { home } from './zh/home.ts';
import { items } from './zh/items.ts';
import { jury } from './zh/jury.ts';
import { keys } from './zh/keys.ts';
import { lists } from './zh/lists.ts';
import { numbers } from './zh/numbers.ts';
import { mine, reviewers } from './zh/reviewers.ts';
import { reviews } from './zh/reviews.ts';
import { schedules } from './zh/schedules.ts';
import { queueSettings, settings, topicSettings } from './zh/settings.ts';
import { shell } from './zh/shell.ts';
import { signIn } from './zh/sign-in.ts';
import { calendar, taskLists, tasks } from './zh/tasks.ts';

export const zh: Texts = {
  pages: {
    home: '概览',
    numbers: '数据',
    search: '搜索',
    deliveries: '投递',
    reviews: '评价',
    review: '评价',
    queue: '队列',
    quality: '质量',
    service: '时效',
    item: '项目',
    desk: '审核台',
    deskQueue: '审核台',
    mine: '我的裁定',
    jury: '评审台',
    juryCourt: '评审台',
    tasks: '任务',
    newTask: '新建任务',
    editTask: '任务详情',
    taskCalendar: '日历',
    taskGroups: '用户组',
    taskGroup: '用户组详情',
    taskTemplates: '模板',
    dispatchLog: '派发日志',
    settings: '设置',
    queueSettings: '队列设置',
    topicSettings: '主题设置',
    courtSettings: '评审庭设置',
    schedules: '定时作业',
    reviewers: '审核员名册',
    keys: '密钥',
    adminLog: '操作记录',
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
