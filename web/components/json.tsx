import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../texts/texts.ts';
import './json.css';
import { number } from './format.ts';

/** Levels that are open at first. */
const OPEN_LEVELS = 2;
/** What is shown at once; the rest by a button, so that a huge body does not stop the browser. */
const ENTRIES = 100;
const LETTERS = 1_000;

/** Someone's JSON as a tree that opens and closes, and a text as text. Nothing in it does anything: no link, no markup. */
export function Json({ value }: { value: unknown }) {
  if (typeof value === 'string') return <LongText text={value} />;
  return (
    <div class="json">
      <Node value={value} level={0} />
    </div>
  );
}

function LongText({ text }: { text: string }) {
  const { shown, rest } = useCut(text);
  return (
    <>
      <pre class="json-text" dir="auto">
        {shown}
      </pre>
      {rest}
    </>
  );
}

/** The beginning of a long text, and a button for all of it. */
function useCut(text: string): { shown: string; rest: ComponentChildren } {
  const [whole, setWhole] = useState(false);
  const t = texts.value.json;
  if (whole || text.length <= LETTERS) return { shown: text, rest: null };
  const rest = (
    <button type="button" class="quiet" onClick={() => setWhole(true)}>
      {t.whole(number(text.length))}
    </button>
  );
  return { shown: `${text.slice(0, LETTERS)}…`, rest };
}

function Node({ name, value, level }: { name?: string; value: unknown; level: number }) {
  if (typeof value === 'object' && value !== null) return <Branch name={name} value={value} level={level} />;
  return (
    <div class="json-leaf">
      <Name name={name} />
      {typeof value === 'string' ? <Text text={value} /> : <span class="json-value">{JSON.stringify(value)}</span>}
    </div>
  );
}

/** On its own, so that letters that run from right to left do not turn what stands beside them. */
function Text({ text }: { text: string }) {
  const { shown, rest } = useCut(text);
  return (
    <>
      <bdi class="json-string">"{shown}"</bdi> {rest}
    </>
  );
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : (
    <>
      <bdi class="json-name">{name}</bdi>
      {': '}
    </>
  );
}

function Branch({ name, value, level }: { name: string | undefined; value: object; level: number }) {
  const [open, setOpen] = useState(level < OPEN_LEVELS);
  const [most, setMost] = useState(ENTRIES);
  const t = texts.value.json;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const size = isList ? `[${number(entries.length)}]` : `{${number(entries.length)}}`;
  if (entries.length === 0)
    return (
      <div class="json-leaf">
        <Name name={name} />
        <span class="json-value">{isList ? '[]' : '{}'}</span>
      </div>
    );
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="json-size">{size}</span>
      </summary>
      {open && (
        <div class="json-inner">
          {entries.slice(0, most).map(([key, inner]) => (
            <Node key={key} name={key} value={inner} level={level + 1} />
          ))}
          {entries.length > most && (
            <button type="button" class="quiet" onClick={() => setMost(most + 10 * ENTRIES)}>
              {t.more(number(entries.length - most))}
            </button>
          )}
        </div>
      )}
    </details>
  );
}
