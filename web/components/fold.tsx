import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface Props {
  summary: ComponentChildren;
  open?: boolean;
  /** Classes of the whole, and of its summary. */
  look?: string;
  head?: string;
  children: () => ComponentChildren;
}

/** Content that is made when someone opens it, and not before. */
export function Fold({ summary, open: isOpen = false, look, head, children }: Props) {
  const [open, setOpen] = useState(isOpen);
  return (
    <details class={look} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class={head}>{summary}</summary>
      {open && children()}
    </details>
  );
}

/** A value as the JSON that it is. */
export const Raw = ({ value }: { value: unknown }) => (
  <Fold summary="JSON">{() => <pre>{JSON.stringify(value, null, 2)}</pre>}</Fold>
);
