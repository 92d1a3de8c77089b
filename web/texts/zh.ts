import type { Texts } from './en.ts';
import { common } from './zh/common.ts';
import { home } from './zh/home.ts';
import { shell } from './zh/shell.ts';
import { signIn } from './zh/sign-in.ts';

export const zh: Texts = {
  pages: { home: '概览' },
  common,
  home,
  shell,
  signIn,
};
