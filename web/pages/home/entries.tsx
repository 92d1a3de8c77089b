import { get, type Schemas } from '../../api/client.ts';
import { type Listed, usePages } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Badge } from '../../components/badge.tsx';
import { duration, number } from '../../components/format.ts';
import { type Column, Listing } from '../../components/table.tsx';
import { READERS } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { type Link, queueLink } from './alerts.ts';

type Entry = Schemas['OverviewEntry'];

/** The lists of the overview, by what is in them. */
const NOUNS = { ticket: 'queues', job: 'topics', case: 'courts', task: 'groups' } as const;
type Kind = keyof typeof NOUNS;

interface Props {
  kind: Kind;
  list: Listed<Entry>;
}

/** Queues, topics, courts or groups with their counts, newest first, as they change. */
export function useEntries(kind: Kind): Props {
  const list = usePages(
    async (cursor, signal) => {
      const found = await get('/v1/overview', { query: { kind, cursor } }, signal);
      return found[NOUNS[kind]] ?? { items: [], nextCursor: null };
    },
    [kind],
    (event) => event.kind === kind,
  );
  return { kind, list };
}

export function Entries({ kind, list }: Props) {
  const { home: t, common, pages, settings } = texts.value;
  const titles = { ...settings, groups: pages.taskGroups };
  const name: Column<Entry> = {
    title: common.name,
    cell: ({ name, paused }) => {
      return (
        <>
          <Linked {...queueLink({ kind, name })} /> {paused && <Badge tone="warn">{common.paused}</Badge>}
        </>
      );
    },
  };
  const columns = [name, ...figuresOf(kind)];
  return <Listing title={titles[NOUNS[kind]]} list={list} columns={columns} empty={t.none[kind]} />;
}

type Figure = keyof { [K in keyof Entry as Entry[K] extends number | null ? K : never]: K };

/** Each kind's counts, as its states are called, or as columns of its own. */
const FIGURES: Record<Kind, Partial<Record<Figure, string>>> = {
  ticket: {
    ...{ waiting: 'waiting', held: 'held', delayed: 'delayed', oldestWaitingSeconds: 'oldest' },
    ...{ handedOutLastMinute: 'claims', settled: 'decided', leaseExpiries: 'expiries', dead: 'dead' },
    failedDeliveries: 'failed',
  },
  job: {
    ...{ waiting: 'ready', held: 'reserved', delayed: 'delayed', oldestWaitingSeconds: 'oldest' },
    ...{ handedOutLastMinute: 'pops', settled: 'finished', leaseExpiries: 'timeouts', buried: 'buried' },
  },
  case: {
    ...{ waiting: 'open', settled: 'decided', oldestWaitingSeconds: 'oldest', settledLastMinute: 'verdicts' },
    ...{ expired: 'hung', failedDeliveries: 'failed' },
  },
  task: {
    ...{ waiting: 'due', delayed: 'delayed', oldestWaitingSeconds: 'oldest', settled: 'completed' },
    ...{ expired: 'expired', failedDeliveries: 'failed' },
  },
};
const ALARMING: readonly string[] = ['buried', 'dead', 'failed', 'hung'];

/** Columns of figures: `–` where there is none, 0 less loud than the rest, and what should not be stands out. */
function figuresOf(kind: Kind): Column<Entry>[] {
  const columns: Record<string, string> = { ...texts.value.items.states, ...texts.value.home.columns };
  return (Object.entries(FIGURES[kind]) as [Figure, string][]).map(([id, word]) => ({
    ...{ title: columns[word] ?? word, numeric: true },
    cell: ({ [id]: n }) => {
      if (n === null) return <span class="muted">–</span>;
      const shown = id === 'oldestWaitingSeconds' ? duration(n) : number(n);
      if (n === 0) return <span class="muted">{shown}</span>;
      return ALARMING.includes(word) ? <strong class="alarming">{shown}</strong> : shown;
    },
  }));
}

/** A name that leads to what it names, where the session's role may read that. */
export const Linked = ({ text, path, kind }: Link) =>
  kind && !mayAct(...READERS[kind]) ? text : <a href={path}>{text}</a>;
