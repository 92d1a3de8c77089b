import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { api, data, type Schemas } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { Body } from '../../components/body/body.tsx';
import { Raw } from '../../components/fold.tsx';
import { useShortcuts } from '../../components/keys.ts';
import { Empty, type Fact, Facts, Loaded, Section } from '../../components/page.tsx';
import type { ItemKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { IN_FEED, isAbout } from './sources.ts';
import { reasonField, type Why } from './ticket-actions.tsx';

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
export function ItemView<T extends { erased?: boolean | undefined }>({
  kind,
  id,
  load,
  facts,
  actions,
  children,
}: Props<T>) {
  const item = useResource(load, [id], { on: isAbout(kind, id) });
  const { refresh } = item;
  const say = useContext(Missing);
  useEffect(() => say(item.error?.code === 'not_found'), [item.error]);
  useShortcuts([{ key: 'r', does: texts.value.common.refresh, run: refresh }]);
  return (
    <Loaded of={item}>
      {(found) => (
        <>
          <Section
            title={texts.value.items.fields.state}
            actions={
              <>
                {actions?.(found, refresh)}
                {mayAct() && !found.erased && (
                  <Erase of={{ item: { kind: IN_FEED[kind] as Kind, id } }} onDone={refresh} />
                )}
              </>
            }
          >
            <Facts facts={facts(found)} />
          </Section>
          {children(found, refresh)}
        </>
      )}
    </Loaded>
  );
}

type Kind = NonNullable<Schemas['NewErasure']['item']>['kind'];

interface EraseProps {
  of: Omit<Schemas['NewErasure'], 'reason'>;
  /** Several on the page have such a button. */
  about?: string;
  onDone: () => void;
}

/** Erases what is kept of an item, or a person's name. */
export function Erase({ of, about, onDone }: EraseProps) {
  const t = texts.value.items.actions;
  const run = ({ reason = '' }: Why) => data(api.POST('/v1/erasures', { body: { ...of, reason } }));
  const will = of.person ? t.erasePersonWill : t.eraseWill;
  return <Action {...t.erase} {...{ about, will, run, onDone }} fields={[reasonField()]} danger />;
}

interface JsonProps {
  title: string;
  value: unknown;
  words?: string | undefined;
  /** The value is gone, and this is said instead. */
  erased?: boolean | undefined;
}

/** A value that the API takes and gives as it is, such as an item's body, or in words; as JSON, too. */
export function JsonSection({ title, value, words, erased }: JsonProps) {
  if (erased)
    return (
      <Section title={title}>
        <Empty>{texts.value.items.erased}</Empty>
      </Section>
    );
  return (
    <Section title={title}>
      <div class="panel-body stack">
        {words ? <strong>{words}</strong> : <Body value={value} />}
        <Raw value={value} />
      </div>
    </Section>
  );
}
