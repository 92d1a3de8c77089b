import type { Texts } from './en.ts';
import { common } from './zh/common.ts';
import { courtSettings } from './zh/court-settings.ts';
import { form } from './zh/form.ts';
import { home } from './zh/home.ts';
import { keys } from './zh/keys.ts';
import { schedules } from './zh/schedules.ts';
import { queueSettings, settings, topicSettings } from './zh/settings.ts';
import { shell } from './zh/shell.ts';
import { signIn } from './zh/sign-in.ts';

export const zh: Texts = {
  pages: {
    home: '概览',
    settings: '设置',
    queueSettings: '队列设置',
    topicSettings: '主题设置',
    courtSettings: '众裁庭设置',
    schedules: '定时作业',
    keys: '密钥',
  },
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
  topicSettings,
};
