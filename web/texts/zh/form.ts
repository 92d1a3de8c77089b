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
  wrong: {
    required: '为必填项',
    number: '必须是数字',
    json: '不是有效的 JSON',
    moment: '必须是日期和时间',
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
