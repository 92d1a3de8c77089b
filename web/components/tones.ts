import type { Option } from './form/spec.ts';

/** The digit keys, by which verdicts are given. */
export const KEYS = 9;

type Tone = 'good' | 'bad' | 'open';

const GOOD = /^(approve|accept|allow|keep|pass|ok|okay|safe|clean|valid|通过|同意|保留|批准|允许|正常|合规)/i;
const BAD =
  /^(reject|remove|deny|delete|block|ban|refuse|fail|invalid|violation|拒绝|驳回|删除|移除|封禁|违规|不通过)/i;
/** Shown with a verdict, beside its colour. */
export const SYMBOLS: Readonly<Record<Tone, string>> = { good: '✓', bad: '✕', open: '•' };

/** Whether a verdict lets something be or not, as far as its value or its label says so. */
export function toneOf([value, label]: Option): Tone {
  const words = [label, ...[...value.matchAll(/"([^"]*)"/g)].map(([, word]) => word ?? '')];
  if (words.some((word) => BAD.test(word))) return 'bad';
  return words.some((word) => GOOD.test(word)) ? 'good' : 'open';
}
