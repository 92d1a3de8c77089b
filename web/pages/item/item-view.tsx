import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { Body } from '../../components/body/body.tsx';
import { Raw } from '../../components/fold.tsx';
import { useShortcuts } from '../../components/keys.ts';
import { type Fact, Facts, Loaded, Section } from '../../components/page.tsx';
import type { ItemKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { isAbout } from './sources.ts';

/** Is told whether the item is not there, so that nothing else of it is asked for. */
export const Missing = createContext((_is: boolean): void => {});

interface Props<T> {
  kind: ItemKind;
  id: string;
  load: (signal: AbortSignal) => Promise<T>;
  facts: (item: T) => Fact[];
  /** What may be done to it. */
  actions?: (item: T, refresh: () => void) => ComponentChildren;
  /** What else there is of it. */
  children: (item: T, refresh: () => void) => ComponentChildren;
}

/** The item itself, asked for again when something happens to it, and with the key `r`. */
export function ItemView<T>({ kind, id, load, facts, actions, children }: Props<T>) {
  const item = useResource(load, [id], { on: isAbout(kind, id) });
  const { refresh } = item;
  const { common } = texts.value;
  const say = useContext(Missing);
  useEffect(() => say(item.error?.code === 'not_found'), [item.error]);
  useShortcuts([{ key: 'r', does: common.refresh, run: refresh }]);
  return (
    <Loaded of={item}>
      {(found) => (
        <>
          <Section title={common.state} actions={actions?.(found, refresh)}>
            <Facts facts={facts(found)} />
          </Section>
          {children(found, refresh)}
        </>
      )}
    </Loaded>
  );
}

/** A value that the API takes and gives as it is, such as an item's body; as JSON, too. */
export function JsonSection({ title, value }: { title: string; value: unknown }) {
  return (
    <Section title={title}>
      <div class="panel-body stack">
        <Body value={value} />
        <Raw value={value} />
      </div>
    </Section>
  );
}
