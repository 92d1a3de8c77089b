import type { FieldSpec } from '../../components/form/spec.ts';
import type { DecisionForm } from './schema.ts';

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
