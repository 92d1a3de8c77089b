import type { FieldSpec } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';

/** Where outcomes go, and what signs them. */
export const callbackFields = (t: Texts['form']): FieldSpec[] => [
  { kind: 'text', name: 'url', said: t.callbackUrl, empty: 'required' },
  { kind: 'secret', name: 'secret', said: t.callbackSecret },
];
