import type { ComponentChildren } from 'preact';
import './facts.css';

/** A name and its value; null is left out. */
export type Fact = [label: string, value: ComponentChildren] | null | false;

export function Facts({ facts }: { facts: Fact[] }) {
  const shown = facts.filter((fact): fact is [string, ComponentChildren] => Boolean(fact));
  return (
    <dl class="facts">
      {shown.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
