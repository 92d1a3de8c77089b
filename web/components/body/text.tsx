import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { Button } from '../page.tsx';
import './body.css';
import { number, percent } from '../format.ts';
import { InertLink } from './outward.tsx';
import { Shown } from './shown.ts';
import { segmentsOf } from './text.ts';

const SHOWN = 3_000;
const MORE = 20_000;

/** A text from anywhere, as it is: nothing in it acts, and nothing in it stays unseen. A long one says how far one has read. */
export function SafeText({ text }: { text: string }) {
  const t = texts.value.body;
  const [shown, setShown] = useState(SHOWN);
  const left = text.length - shown;
  return (
    <div class="body-text" dir="auto">
      <Segments text={text.slice(0, shown)} />
      {left > 0 && (
        <>
          {' … '}
          <Button does={t.more(number(left))} run={() => setShown(shown + MORE)} />
        </>
      )}
      {text.length > SHOWN && <Position shown={Math.min(1, shown / text.length)} />}
    </div>
  );
}

/** How much of the text around it has come into view. @param shown the share of it that is there at all */
function Position({ shown }: { shown: number }) {
  const [read, setRead] = useState(0);
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const look = () => {
      const { top, height } = ref.current?.parentElement?.getBoundingClientRect() ?? { top: 0, height: 1 };
      setRead(Math.min(1, Math.max(0, (innerHeight - top) / height)) * shown);
    };
    look();
    document.addEventListener('scroll', look, { capture: true, passive: true });
    return () => document.removeEventListener('scroll', look, { capture: true });
  }, [shown]);
  return (
    <small class="body-position" ref={ref}>
      {texts.value.body.position(percent(Math.round(read * 100) / 100))}
    </small>
  );
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** The same inside a line. */
export function Segments({ text }: { text: string }) {
  const { word, cut } = useContext(Shown);
  return (
    <>
      {segmentsOf(text).map((segment, n) => {
        if (segment.kind === 'text')
          return cut(segment.text).map((part, k) =>
            k % 2 === 0 ? (
              part
            ) : (
              <mark key={`${n} ${k}`} class={isSame(part, word) ? '' : 'highlight'}>
                {part}
              </mark>
            ),
          );
        if (segment.kind === 'link') return <InertLink key={n} {...segment} />;
        return <Mark key={n} {...segment} />;
      })}
    </>
  );
}

const Mark = ({ code, times }: { code: string; times: number }) => (
  <span class="body-mark" title={texts.value.body.mark}>
    {times > 1 ? `${code} × ${number(times)}` : code}
  </span>
);

/** A text in which nothing acts and nothing stays unseen, where addresses are no buttons either. */
export const Marked = ({ text }: { text: string }) => (
  <>{segmentsOf(text).map((one, n) => (one.kind === 'marks' ? <Mark key={n} {...one} /> : one.text))}</>
);
