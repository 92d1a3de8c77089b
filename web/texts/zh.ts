import type { Texts } from './en.ts';
import * as frame from './zh/frame.ts';
import * as items from './zh/items.ts';
import * as manage from './zh/manage.ts';
import * as settings from './zh/settings.ts';
import * as watch from './zh/watch.ts';
import * as work from './zh/work.ts';

export const zh: Texts = {
  pages: {
    home: '概览',
    numbers: '数据',
    search: '搜索',
    deliveries: '投递',
    reviews: '评价',
    quality: '质量',
    service: '时效',
    desk: '审核台',
    mine: '我的裁定',
    jury: '评审台',
    tasks: '任务',
    newTask: '新建任务',
    taskCalendar: '日历',
    taskGroups: '用户组',
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
  ...frame,
  ...items,
  ...manage,
  ...settings,
  ...watch,
  ...work,
};
