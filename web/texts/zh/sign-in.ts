import type { Texts } from '../en.ts';

export const signIn: Texts['signIn'] = {
  title: '登录',
  provider: (host) => `在 ${host} 登录`,
  lead: '此服务器需要密钥。密钥只需输入一次，之后由此浏览器的会话代替。',
  key: '密钥',
  hint: '以 docket_ 开头',
  submit: '登录',
  wrong: '此密钥不存在、已撤销或已过期。',
  getOne: '管理员可创建密钥：',
};
