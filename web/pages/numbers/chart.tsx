import { useState } from 'preact/hooks';
import { Fold } from '../../components/fold.tsx';
import { dayAndTime, duration, number } from '../../components/format.ts';
import { type Fact, Facts, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { type ChartOf, type Drawn, type Figures, hasGap, isUnknown, type Line } from './charts.ts';
import { PlotBox } from './plot-box.tsx';
import type { FigureKind } from './wanted.ts';

interface Props {
  chart: ChartOf;
  drawn: Drawn;
}

/** Lines over time, with their values at the cursor, else the newest. */
export function DrawnChart({ chart, drawn, stepSeconds }: Props & { stepSeconds: number }) {
  return (
    <Section title={texts.value.numbers.charts[chart.id]}>
      {/* with other lines it is another plot */}
      <Lines key={drawn.lines.map(({ name }) => name).join()} {...{ chart, drawn, stepSeconds }} />
    </Section>
  );
}

/** The charts without lines, and why there are none. */
export function EmptyCharts({ empty, kind, figures }: { empty: Props[]; kind: FigureKind; figures: Figures }) {
  const t = texts.value.numbers;
  if (empty.length === 0) return null;
  const facts = empty.map(({ chart, drawn }): Fact => [t.charts[chart.id], whyEmpty(chart, kind, figures, drawn)]);
  return (
    <Section title={t.without}>
      <Facts facts={facts} />
    </Section>
  );
}

function whyEmpty(chart: ChartOf, kind: FigureKind, { queue, series }: Figures, drawn: Drawn): string {
  const t = texts.value.numbers;
  if (!isUnknown(drawn)) return t.nothing;
  if (chart.id !== 'oldest') return t.notSampled;
  if (queue === null) return t.chooseForAge(t.queueOf[kind]);
  return series.waiting.every((value) => value === null) ? t.notSampled : t.noneWaited;
}

const labelOf = ({ name, state }: Line): string =>
  (state && texts.value.items.states[state]) || texts.value.numbers.lines[name] || name;

function Lines({ chart, drawn, stepSeconds }: Props & { stepSeconds: number }) {
  const t = texts.value.numbers;
  const [pointed, setPointed] = useState<number | null>(null);
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const step = pointed !== null && pointed < drawn.times.length ? pointed : drawn.newest;
  const said = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : chart.unit === 'seconds' ? duration(value) : number(value);
  const title = t.charts[chart.id];
  const saidAt = (line: number, at: number) => said(drawn.values[line]?.[at]);
  const toggle = (name: string) =>
    setHidden(hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name]);
  const hints = [chart.perStep ? t.inEach(duration(stepSeconds)) : '', hasGap(drawn) ? gapHint(chart) : ''];
  return (
    <figure class="numbers-chart">
      <figcaption>
        <p class="numbers-at row">
          <time dateTime={isoOf(drawn, step)}>{timeOf(drawn, step)}</time>
          <span class="muted">{hints.filter(Boolean).join(' ')}</span>
        </p>
        <ul class="numbers-legend">
          {drawn.lines.map((line, n) => (
            <li key={line.name}>
              <button
                type="button"
                class="quiet"
                aria-pressed={!hidden.includes(line.name)}
                onClick={() => toggle(line.name)}
              >
                <Swatch line={line} />
                {labelOf(line)} <strong>{saidAt(n, step)}</strong>
              </button>
            </li>
          ))}
        </ul>
      </figcaption>
      <PlotBox
        title={title}
        {...{ chart, drawn, hidden, step }}
        said={(at) => drawn.lines.map((line, n) => `${labelOf(line)} ${saidAt(n, at)}`).join(', ')}
        onPoint={setPointed}
      />
      <AsTable title={title} drawn={drawn} saidAt={saidAt} />
    </figure>
  );
}

const gapHint = ({ id }: ChartOf) => (id === 'oldest' ? texts.value.numbers.gapOfAge : texts.value.numbers.gap);

const dateOf = ({ times }: Drawn, step: number) => new Date((times[step] ?? 0) * 1_000);
const isoOf = (drawn: Drawn, step: number) => dateOf(drawn, step).toISOString();
const timeOf = (drawn: Drawn, step: number) => dayAndTime(dateOf(drawn, step));

function Swatch({ line: { look } }: { line: Line }) {
  return (
    <svg class="numbers-swatch" viewBox="0 0 28 8" aria-hidden="true" style={{ color: `var(${look.ink})` }}>
      <line
        x1="0"
        y1="4"
        x2="28"
        y2="4"
        stroke="currentColor"
        stroke-width="2.5"
        stroke-dasharray={look.dash.join(' ')}
      />
    </svg>
  );
}

interface TableProps {
  title: string;
  drawn: Drawn;
  saidAt: (line: number, step: number) => string;
}

/** The same values for those who cannot see the chart, newest first. */
function AsTable({ title, drawn, saidAt }: TableProps) {
  const t = texts.value.numbers;
  const columns: Column<number>[] = [
    { title: t.time, cell: (step) => timeOf(drawn, step) },
    ...drawn.lines.map((line, n) => ({
      title: labelOf(line),
      numeric: true,
      cell: (step: number) => saidAt(n, step),
    })),
  ];
  return (
    <Fold look="numbers-table" head="bar" summary={t.asTable}>
      {() => <Table caption={title} columns={columns} rows={drawn.times.map((_, n) => n).reverse()} rowKey={String} />}
    </Fold>
  );
}
