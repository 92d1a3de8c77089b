/** The answer to every call; code 0: success. */
interface Answer {
  code: number;
  message: string;
  data: unknown;
}

// The messages of the original, for which its users search their logs.
export const SAYS = {
  added: '添加成功',
  done: '操作成功',
  noId: 'job id不能为空',
  noTopic: 'topic 不能为空',
  noTopics: 'topic不能为空',
  delay: 'delay 取值范围1 - (2^31 - 1)',
  ttr: 'ttr 取值范围1 - 86400',
  notJson: '解析json失败',
} as const;

export const done = (data: unknown = null, message: string = SAYS.done): Answer => ({ code: 0, message, data });
export const failed = (message: string): Answer => ({ code: 1, message, data: null });

/** A call that is invalid or too late. */
export class Refused extends Error {}
