import { useEffect, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { number } from '../format.ts';
import './body.css';
import { learnImageHosts } from './hosts.ts';
import { type Entry, entriesOf, isOpenAtFirst, type Json } from './json.ts';
import { Asking, OutwardDialog } from './outward.tsx';
import { Picture, Revealed } from './picture.tsx';
import { imageUrl } from './text.ts';
import { SafeText, Segments } from './text.tsx';

const PAGE = 100;

interface Props {
  value: unknown;
  /** Shows every image that may be shown. */
  revealed?: boolean;
}

/**
 * The body of an item, whoever sent it: texts as they are, images only when someone wants them, the rest as a tree. Nothing in
 * it can act: no markup, no address that is followed by itself.
 */
export function Body({ value, revealed = false }: Props) {
  useEffect(() => {
    void learnImageHosts();
  }, []);
  const [leaving, setLeaving] = useState<URL | null>(null);
  return (
    <>
      <Revealed.Provider value={revealed}>
        <Asking.Provider value={setLeaving}>
          <div class="body">
            <Value name="" value={value as Json} depth={0} />
          </div>
        </Asking.Provider>
      </Revealed.Provider>
      <OutwardDialog url={leaving} close={() => setLeaving(null)} />
    </>
  );
}

function Value({ name, value, depth }: { name: string; value: Json; depth: number }) {
  const entries = entriesOf(value);
  if (entries && depth === 0) return <Entries entries={entries} of={name} depth={0} />;
  if (entries) return <Branch entries={entries} name={name} isList={Array.isArray(value)} depth={depth} />;
  if (typeof value !== 'string') return <code class="body-value">{String(value)}</code>;
  if (value === '') return <span class="muted">{texts.value.body.empty}</span>;
  const image = imageUrl(value, name);
  return image ? <Picture url={image} /> : <SafeText text={value} />;
}

/** Its parts are made when it is opened: a body may hold more, and deeper, than a page can. */
function Branch({ entries, name, isList, depth }: { entries: Entry[]; name: string; isList: boolean; depth: number }) {
  const t = texts.value.body;
  const [open, setOpen] = useState(isOpenAtFirst(depth, entries.length));
  const count = number(entries.length);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{isList ? t.list(count) : t.fields(count)}</summary>
      {open && <Entries entries={entries} of={isList ? name : ''} depth={depth} />}
    </details>
  );
}

/** @param of the name of the list that they are in: what it says of its parts is true of each */
function Entries({ entries, of, depth }: { entries: Entry[]; of: string; depth: number }) {
  const [shown, setShown] = useState(PAGE);
  if (entries.length === 0) return <p class="muted">{texts.value.body.empty}</p>;
  return (
    <>
      <dl class="body-fields">
        {entries.slice(0, shown).map(([name, value]) => (
          <div key={name}>
            <dt dir="auto">
              <Segments text={name.slice(0, PAGE)} />
            </dt>
            <dd>
              <Value name={of || name} value={value} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > shown && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          {texts.value.body.moreEntries(number(entries.length - shown))}
        </button>
      )}
    </>
  );
}
