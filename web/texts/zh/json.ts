import type { Texts } from '../en.ts';

export const json: Texts['json'] = {
  more: (n) => `再显示 ${n} 项`,
  whole: (n) => `显示全部 ${n} 个字符`,
};
