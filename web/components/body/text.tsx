import { useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { number } from '../format.ts';
import { InertLink } from './outward.tsx';
import { segmentsOf } from './text.ts';

const SHOWN = 3_000;
const MORE = 20_000;

/** A text from anywhere, as it is: nothing in it acts, and nothing in it stays unseen. */
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
          <button type="button" onClick={() => setShown(shown + MORE)}>
            {t.more(number(left))}
          </button>
        </>
      )}
    </div>
  );
}

/** The same inside a line. */
export function Segments({ text }: { text: string }) {
  const t = texts.value.body;
  return (
    <>
      {segmentsOf(text).map((segment, n) => {
        if (segment.kind === 'text') return segment.text;
        if (segment.kind === 'link') return <InertLink key={n} {...segment} />;
        const times = segment.times > 1 ? ` × ${number(segment.times)}` : '';
        return (
          <span key={n} class="body-mark" title={t.mark}>
            {segment.code + times}
          </span>
        );
      })}
    </>
  );
}
