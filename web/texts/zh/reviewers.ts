import type { Texts } from '../en.ts';

export const reviewers: Texts['reviewers'] = {
  lead: '配额和离开状态对这些人在所有队列中生效；技能在仅限已登记审核员的队列中生效。',
  none: '还没有登记任何人。',
  create: '登记审核员',
  deleteHint: '配额和离开状态不再生效；仅限已登记审核员的队列不再派给此人。',
  name: ['名称', '领取和裁定时使用的名称。'],
  displayName: ['显示为', ''],
  person: ['本人', '同一人的多个名称共用配额和回避。留空：以名称为准。'],
  skills: ['技能', ''],
  perDay: ['每天工单数', '留空：不限。'],
  exposure: ['按类别限制', '每天某类别的工单数；0：不派发。'],
  row: (n) => `类别 ${n}`,
  add: '添加类别',
  category: ['类别', '工单上的类别名称，如 violence。'],
  awayUntil: ['离开至', '在此之前不再派发。'],
  timezone: ['时区', '按此时区计算每天。'],
};

export const mine: Texts['mine'] = {
  today: '今天',
  none: '您还没有裁定过工单。',
  dispute: '提出异议',
  reason: ['理由', '工单或对您裁定的处理有什么问题。'],
  disputed: '已记入工单的历史。',
};
