import { useEffect, useRef } from 'preact/hooks';
import { language, texts } from '../../texts/texts.ts';
import type { ChartOf, Drawn } from './charts.ts';
import { dataOf, HEIGHT, plotIn, pointAt } from './plot.ts';

interface Props {
  title: string;
  chart: ChartOf;
  drawn: Drawn;
  /** Names of lines that are not shown. */
  hidden: readonly string[];
  /** Whose values are shown. */
  step: number;
  /** The values of a step in words. */
  said: (step: number) => string;
  onPoint: (step: number | null) => void;
}

/** Steps that a key moves the cursor. */
const MOVES: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -12,
  PageUp: 12,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** The drawing. By keys it is a slider over time, which says the values of each step. */
export function PlotBox({ title, chart, drawn, hidden, step, said, onPoint }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<ReturnType<typeof plotIn> | null>(null);
  const current = useRef({ drawn, onPoint });
  current.current = { drawn, onPoint };
  useEffect(() => {
    const box = place.current as HTMLDivElement;
    const onPoint = (at: number | null) => current.current.onPoint(at);
    const made = plotIn(box, { chart, drawn: () => current.current.drawn, onPoint });
    const resized = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    resized.observe(box);
    plot.current = made;
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(dataOf(drawn)), [drawn.times.at(-1), JSON.stringify(drawn.values)]);
  useEffect(() => {
    for (const [n, { name }] of drawn.lines.entries()) plot.current?.setSeries(n + 1, { show: !hidden.includes(name) });
  }, [hidden]);
  // in the colours and the language of now
  useRedraw(() => plot.current?.redraw(true, true));
  const point = (at: number | undefined) => plot.current && pointAt(plot.current, at);
  const last = drawn.times.length - 1;
  const move = (event: KeyboardEvent) => {
    const by = MOVES[event.key];
    if (by === undefined) return;
    event.preventDefault();
    point(drawn.times[Math.max(0, Math.min(last, step + by))]);
  };
  return (
    <div
      class="numbers-plot"
      ref={place}
      role="slider"
      tabIndex={0}
      aria-label={texts.value.numbers.cursor(title)}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={step}
      aria-valuetext={said(step)}
      onKeyDown={move}
      onBlur={() => point(undefined)}
    />
  );
}

/** After a change of the colours, by the console's switch or the system's, and of the language. */
function useRedraw(redraw: () => void): void {
  const current = useRef(redraw);
  current.current = redraw;
  useEffect(() => current.current(), [language.value]);
  useEffect(() => {
    const changed = () => current.current();
    const chosen = new MutationObserver(changed);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const preferred = matchMedia('(prefers-color-scheme: dark)');
    preferred.addEventListener('change', changed);
    return () => {
      chosen.disconnect();
      preferred.removeEventListener('change', changed);
    };
  }, []);
}
