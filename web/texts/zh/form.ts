import type { Texts } from '../en.ts';

export const form: Texts['form'] = {
  seconds: '秒',
  onePerLine: '每行一个。',
  inZone: (zone) => `按您的时区（${zone}）。`,
  defaultIs: (value) => `默认：${value}。`,
  on: '启用',
  remove: '移除',
  show: '显示',
  newSecret: '生成密钥',
  chooseOne: '请选择',
  wrong: {
    required: '必填。',
    number: '必须是数字，不含千位分隔符。',
    integer: '必须是整数。',
    range: '超出范围。',
    length: '过短或过长。',
    pattern: '不符合要求的格式。',
    json: '不是有效的 JSON。',
    moment: '必须是日期和时间。',
  },
  unsaved: {
    title: '不保存就离开？',
    lost: '您在此处的更改尚未保存，离开后将丢失。',
    stay: '继续编辑',
    leave: '放弃',
  },
  callbackUrl: ['地址', '以 POST 方式发送到此地址。'],
  callbackSecret: ['密钥', '按 Standard Webhooks 为每次调用签名：whsec_ 加 24 至 64 字节的 base64。'],
};
