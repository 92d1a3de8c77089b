import type { FieldSpec, Option } from '../../components/form/spec.ts';
import type { DecisionForm } from './schema.ts';

export type Tone = 'good' | 'bad' | 'open';

const GOOD = /^(approve|accept|allow|keep|pass|ok|okay|safe|clean|valid|通过|同意|保留|批准|允许|正常|合规)/i;
const BAD =
  /^(reject|remove|deny|delete|block|ban|refuse|fail|invalid|violation|拒绝|驳回|删除|移除|封禁|违规|不通过)/i;

/** Shown with a verdict, beside its colour. */
export const SYMBOLS: Readonly<Record<Tone, string>> = { good: '✓', bad: '✕', open: '?' };

/** Whether a verdict lets something be or not, as far as its value or its label says so. */
export function toneOf([value, label]: Option): Tone {
  const words = [label, ...[...value.matchAll(/"([^"]*)"/g)].map(([, word]) => word ?? '')];
  if (words.some((word) => BAD.test(word))) return 'bad';
  return words.some((word) => GOOD.test(word)) ? 'good' : 'open';
}

/** A decision in the words of its form: the labels of what was chosen, other values behind the labels of their fields. */
export function wordsOf({ fields, isOne }: DecisionForm, decision: unknown): string {
  const [whole] = fields;
  const found = isOne && whole ? partsOf(whole, decision) : inside(fields, decision);
  return found.join(' · ') || JSON.stringify(decision);
}

function inside(fields: readonly FieldSpec[], value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return fields.flatMap((field) => partsOf(field, (value as Record<string, unknown>)[field.name]));
}

function partsOf(field: FieldSpec, value: unknown): string[] {
  if (value === undefined || value === null || field.kind === 'fixed') return [];
  const labelOf = (one: unknown) =>
    'options' in field ? field.options.find(([known]) => known === JSON.stringify(one))?.[1] : undefined;
  if (field.kind === 'one') return [labelOf(value) ?? JSON.stringify(value)];
  if (field.kind === 'several' && Array.isArray(value)) return value.map((one) => labelOf(one) ?? JSON.stringify(one));
  if (field.kind === 'object') return inside(field.fields, value);
  return [`${field.name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
}
