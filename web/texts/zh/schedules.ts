import type { Texts } from '../en.ts';

export const schedules: Texts['schedules'] = {
  lead: '定时作业按周期向主题添加作业。',
  topic: '主题',
  of: (topic) => `${topic} 的定时作业`,
  none: '此主题没有定时作业。',
  choose: '选择主题以查看其定时作业。',
  create: '新建定时作业',
  change: '修改',
  save: '保存',
  saved: (name) => `定时作业 ${name} 已保存。`,
  deleteHint: '不再添加作业；已添加的作业保留。',
  every: (duration) => `每 ${duration}`,
  columns: { rhythm: '周期', zone: '时区', priority: '优先级', changed: '修改时间', actions: '操作' },
  name: ['名称', '1 至 200 个字符：A–Z、a–z、0–9 以及 . _ : ~ @ -'],
  everySeconds: ['间隔', '整数秒。与 cron 表达式二选一。'],
  cron: ['Cron 表达式', '例如 0 9 * * 1-5。与间隔二选一。'],
  timezone: ['时区', 'cron 表达式所用的时区。'],
  ttr: ['执行时限', '作业可被预留的时间，超时后重新就绪。'],
  priority: ['优先级', '0 至 4294967295，数值小的优先。'],
  body: ['内容（JSON）', '每个作业的内容。'],
};
