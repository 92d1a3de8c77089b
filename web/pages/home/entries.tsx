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
  return (
    <Listing
      title={titles[NOUNS[kind]]}
      list={list}
      columns={columns}
      rowKey={(entry) => entry.name}
      empty={t.none[kind]}
    />
  );
}

type Figure = keyof { [K in keyof Entry as Entry[K] extends number | null ? K : never]: K };

const ALARMING: readonly Figure[] = ['buried', 'dead', 'failedDeliveries'];
const AGES: readonly Figure[] = ['oldestWaitingSeconds'];

/** A column of figures: `–` where there is none, 0 less loud than the rest, and what should not be stands out. */
const figure = (id: Figure, title: string, alarming = ALARMING.includes(id)): Column<Entry> => ({
  ...{ title, numeric: true },
  cell: ({ [id]: n }) => {
    if (n === null) return <span class="muted">–</span>;
    const shown = AGES.includes(id) ? duration(n) : number(n);
    if (n === 0) return <span class="muted">{shown}</span>;
    return alarming ? <strong class="alarming">{shown}</strong> : shown;
  },
});

/** Each kind's counts, as its states are called. */
function figuresOf(kind: Kind): Column<Entry>[] {
  const { columns: t } = texts.value.home;
  const { states } = texts.value.items;
  const state = (id: Figure, word: string, alarming = ALARMING.includes(id)) =>
    figure(id, states[word] ?? word, alarming);
  const failed = figure('failedDeliveries', t.failed);
  const all: Record<Kind, Column<Entry>[]> = {
    ticket: [
      state('waiting', 'waiting'),
      state('held', 'held'),
      state('delayed', 'delayed'),
      figure('oldestWaitingSeconds', t.oldest),
      figure('handedOutLastMinute', t.claims),
      state('settled', 'decided'),
      figure('leaseExpiries', t.expiries),
      state('dead', 'dead'),
      failed,
    ],
    job: [
      state('waiting', 'ready'),
      state('held', 'reserved'),
      state('delayed', 'delayed'),
      figure('oldestWaitingSeconds', t.oldest),
      figure('handedOutLastMinute', t.pops),
      state('settled', 'finished'),
      figure('leaseExpiries', t.timeouts),
      state('buried', 'buried'),
    ],
    case: [
      state('waiting', 'open'),
      state('settled', 'decided'),
      figure('oldestWaitingSeconds', t.oldest),
      figure('settledLastMinute', t.verdicts),
      state('expired', 'hung', true),
      failed,
    ],
    task: [
      state('waiting', 'due'),
      state('delayed', 'delayed'),
      figure('oldestWaitingSeconds', t.oldest),
      state('settled', 'completed'),
      state('expired', 'expired'),
      failed,
    ],
  };
  return all[kind];
}

/** A name that leads to what it names, where the session's role may read that. */
export const Linked = ({ text, path, kind }: Link) =>
  kind && !mayAct(...READERS[kind]) ? text : <a href={path}>{text}</a>;
