import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { type Resource, useResource } from '../../api/resource.ts';
import { Body } from '../../components/body/body.tsx';
import { useShortcuts } from '../../components/keys.ts';
import { Section } from '../../components/page.tsx';
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

/** A value that the API takes and gives as it is, such as an item's body. */
export function JsonSection({ title, value }: { title: string; value: unknown }) {
  return (
    <Section title={title}>
      <div class="panel-body">
        <Body value={value} />
      </div>
    </Section>
  );
}
