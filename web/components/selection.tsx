import { texts } from '../texts/texts.ts';
import type { Column } from './table.tsx';

/** Which rows of a list are selected, by their keys. */
export interface Selection {
  keys: readonly string[];
  change: (keys: string[]) => void;
}

/** A column of boxes. @param idOf what a row is called; undefined: it cannot be selected */
export const selecting = <Row,>(
  { keys, change }: Selection,
  keyOf: (row: Row) => string,
  idOf: (row: Row) => string | undefined,
): Column<Row> => ({
  title: texts.value.lists.selected,
  cell: (row) => {
    const [key, id] = [keyOf(row), idOf(row)];
    if (id === undefined) return null;
    const toggle = (on: boolean) => change(on ? [...keys, key] : keys.filter((one) => one !== key));
    return (
      <input
        type="checkbox"
        aria-label={texts.value.lists.select(id)}
        checked={keys.includes(key)}
        onChange={(event) => toggle(event.currentTarget.checked)}
      />
    );
  },
});

/** Above a list: selects all that are shown and can be, or none of them. */
export function SelectAll({ shown, keys, change }: Selection & { shown: readonly string[] }) {
  const others = keys.filter((key) => !shown.includes(key));
  if (shown.length === 0) return null;
  return (
    <label class="form-flag bar">
      <input
        type="checkbox"
        checked={shown.every((key) => keys.includes(key))}
        onChange={(event) => change(event.currentTarget.checked ? [...others, ...shown] : others)}
      />
      {texts.value.lists.selectAll}
    </label>
  );
}
