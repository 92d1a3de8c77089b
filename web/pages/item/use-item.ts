import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { type Resource, useResource } from '../../api/resource.ts';
import { useShortcuts } from '../../components/keys.ts';
import type { ItemKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { isAbout } from './sources.ts';

/** Is told whether the item is not there, so that nothing else of it is asked for. */
export const Missing = createContext((_is: boolean): void => {});

/** The item itself, asked for again when something happens to it, and with the key `r`. */
export function useItem<T>(kind: ItemKind, id: string, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const item = useResource(load, [id], { on: isAbout(kind, id) });
  const say = useContext(Missing);
  useEffect(() => say(item.error?.code === 'not_found'), [item.error]);
  useShortcuts([{ key: 'r', does: texts.value.common.refresh, run: item.refresh }]);
  return item;
}
