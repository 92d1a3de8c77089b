import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { Fold } from '../fold.tsx';
import { number } from '../format.ts';
import { Button } from '../page.tsx';
import './body.css';
import { learnImageHosts } from './hosts.ts';
import { Media } from './media.tsx';
import { OutwardDialog } from './outward.tsx';
import { Shown } from './shown.ts';
import { cutter, mediaOf } from './text.ts';
import { SafeText, Segments } from './text.tsx';
import { type Picture, Viewer } from './viewer.tsx';

const PAGE = 100;
const NONE: readonly string[] = [];

interface Props {
  value: unknown;
  /** Shows all media that may be shown. */
  revealed?: boolean;
  /** What someone looks for. */
  word?: string;
  /** Words of the queue. */
  highlight?: readonly string[];
}

/**
 * The body of an item, whoever sent it: texts as they are, media only when someone wants them, the rest as a tree. Nothing in
 * it can act: no markup, no address that is followed by itself.
 */
export function Body({ value, revealed = false, word = '', highlight = NONE }: Props) {
  useEffect(() => {
    void learnImageHosts();
  }, []);
  const [leaving, setLeaving] = useState<URL | null>(null);
  const [viewed, setViewed] = useState<{ pictures: Picture[]; at: number | null }>({ pictures: [], at: null });
  // once for all of its texts
  const cut = useMemo(() => cutter(word, highlight), [word, highlight]);
  const ref = useRef<HTMLDivElement>(null);
  const enlarge = (url: string) => {
    const images = [...(ref.current?.querySelectorAll<HTMLImageElement>('img[data-picture]') ?? [])];
    const pictures = images.map(({ src, dataset }) => ({ src, seen: dataset.picture === 'seen' }));
    setViewed({ pictures, at: pictures.findIndex(({ src }) => src === url) });
  };
  return (
    <>
      <Shown.Provider value={{ revealed, word, cut, ask: setLeaving, enlarge }}>
        <div class="body" ref={ref}>
          <Value name="" value={value as Json} depth={0} />
        </div>
      </Shown.Provider>
      <OutwardDialog url={leaving} close={() => setLeaving(null)} />
      <Viewer {...viewed} close={() => setViewed({ pictures: [], at: null })} />
    </>
  );
}

interface ValueProps {
  name: string;
  value: Json;
  depth: number;
}

function Value({ name, value, depth }: ValueProps) {
  const entries = entriesOf(value);
  const shared = { name, isList: Array.isArray(value), depth };
  if (entries && isOpenAtFirst(depth, entries.length)) return <Entries entries={entries} {...shared} />;
  if (entries) return <Branch entries={entries} {...shared} />;
  if (typeof value !== 'string') return <code class="body-value">{String(value)}</code>;
  if (value === '') return <span class="muted">{texts.value.body.empty}</span>;
  const media = mediaOf(value, name);
  return media ? <Media {...media} /> : <SafeText text={value} />;
}

interface EntriesProps {
  entries: Entry[];
  /** Of the list or the object: what it says of a list is true of each of its parts. */
  name: string;
  isList: boolean;
  depth: number;
}

/** Its parts are made when it is opened: a body may hold more, and deeper, than a page can. */
function Branch(props: EntriesProps) {
  const t = texts.value.body;
  const count = number(props.entries.length);
  return <Fold summary={props.isList ? t.list(count) : t.fields(count)}>{() => <Entries {...props} />}</Fold>;
}

function Entries({ entries, name: of, isList, depth }: EntriesProps) {
  const [shown, setShown] = useState(PAGE);
  if (entries.length === 0) return <span class="muted">{texts.value.body.empty}</span>;
  const parts = entries.slice(0, shown);
  const left = entries.length - shown;
  return (
    <>
      {isList ? (
        <ol class={`body-list ${parts.every(([, value]) => isShort(value)) ? 'short' : ''}`}>
          {parts.map(([n, value]) => (
            <li key={n}>
              <Value name={of} value={value} depth={depth + 1} />
            </li>
          ))}
        </ol>
      ) : (
        <dl class="body-fields">
          {parts.map(([name, value]) => (
            <div key={name} class={isShort(value) ? 'short' : ''}>
              <dt dir="auto">
                <Segments text={name.slice(0, PAGE)} />
              </dt>
              <dd>
                <Value name={name} value={value} depth={depth + 1} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {left > 0 && <Button does={texts.value.body.moreEntries(number(left))} run={() => setShown(shown + PAGE)} />}
    </>
  );
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A part of an object or a list: the name or number by which it is in there, and itself. */
type Entry = [name: string, value: Json];

/** What an object or a list holds; null for what holds nothing. */
function entriesOf(value: Json): Entry[] | null {
  if (Array.isArray(value)) return value.map((part, n) => [String(n + 1), part]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : null;
}

/** Shown from the start: what is near the top and not much. */
const isOpenAtFirst = (depth: number, entries: number) => depth < 3 && entries <= 30;

const SHORT = 40;

/** Fits into a line with others. */
const isShort = (value: Json): boolean =>
  entriesOf(value) === null && /^[^\n]*$/.test(String(value)) && String(value).length <= SHORT;
