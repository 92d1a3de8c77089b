import type { Texts } from '../en.ts';

export const adminLog: Texts['adminLog'] = {
  lead: '谁更改了设置和密钥，以及结果如何。更改之前先写入一行。',
  none: '没有更改。',
  path: ['路径', '只显示该路径及其下的更改，写法与 API 相同：/v1/queues/spam'],
  shown: '显示',
  unknown: '未知',
  changes: '更改记录',
  columns: { at: '时间', actor: '操作人', operation: '操作', path: '路径', status: '响应', more: '详情' },
};
