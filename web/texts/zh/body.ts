import type { Texts } from '../en.ts';

export const body: Texts['body'] = {
  empty: '空',
  more: (n) => `显示更多（还有 ${n} 个字符）`,
  moreEntries: (n) => `显示更多（还有 ${n} 项）`,
  list: (n) => `列表，${n} 项`,
  fields: (n) => `${n} 个字段`,
  mark: '不可见字符，可能改变文本的读法',
  hidden: '图片，尚未显示',
  failed: '图片无法加载。',
  notAllowed: '图片未加载：其主机不在 DOCKET_IMAGE_HOSTS 中。',
  imageOf: (host) => `来自 ${host} 的图片`,
  reveal: '显示图片',
  hide: '隐藏图片',
  leaving: '此链接将离开 Docket',
  leavingHint: '该地址由提交此项的人提供。它将在新标签页中打开，且不会获知您的来源页面。',
  address: '地址',
  open: '在新标签页中打开',
};
