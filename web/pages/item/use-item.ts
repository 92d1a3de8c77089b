import { type Resource, useResource } from '../../api/resource.ts';
import { useShortcuts } from '../../components/keys.ts';
import type { ItemKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { isAbout } from './sources.ts';

/** The item itself, asked for again when something happens to it, and with the key `r`. */
export function useItem<T>(kind: ItemKind, id: string, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const item = useResource(load, [id], { on: isAbout(kind, id) });
  useShortcuts([{ key: 'r', does: texts.value.common.refresh, run: item.refresh }]);
  return item;
}
