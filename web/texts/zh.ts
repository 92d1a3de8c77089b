import type { Texts } from './en.ts';
import { body } from './zh/body.ts';
import { common } from './zh/common.ts';
import { desk } from './zh/desk.ts';
import { home } from './zh/home.ts';
import { jury } from './zh/jury.ts';
import { shell } from './zh/shell.ts';
import { signIn } from './zh/sign-in.ts';

export const zh: Texts = {
  pages: { home: '概览', desk: '审核台', deskQueue: '审核台', jury: '众裁台', juryCourt: '众裁台' },
  body,
  common,
  desk,
  home,
  jury,
  shell,
  signIn,
};
