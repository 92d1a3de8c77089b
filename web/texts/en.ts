import { body } from './en/body.ts';
import { common } from './en/common.ts';
import { desk } from './en/desk.ts';
import { home } from './en/home.ts';
import { jury } from './en/jury.ts';
import { shell } from './en/shell.ts';
import { signIn } from './en/sign-in.ts';

/** Every text of the console in English; other languages have exactly these. One file a page in texts/en/. */
export const en = {
  /** Titles of the pages, by the names in web/routes.ts. */
  pages: { home: 'Overview', desk: 'Review desk', deskQueue: 'Review desk', jury: 'Jury desk', juryCourt: 'Jury desk' },
  body,
  common,
  desk,
  home,
  jury,
  shell,
  signIn,
};

export type Texts = typeof en;
