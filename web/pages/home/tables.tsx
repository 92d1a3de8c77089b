import type { ComponentChildren } from 'preact';
import type { Listed } from '../../api/pages.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty, Loaded } from '../../components/feedback.tsx';
import { duration, moment, number } from '../../components/format.ts';
import { More } from '../../components/more.tsx';
import { Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { queuePath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import type { CourtEntry, Entry, GroupEntry, QueueEntry, TopicEntry } from './lists.ts';

interface Props<Row> {
  title: string;
  list: Listed<Row>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  empty: string;
}

function Figures<Row>({ title, list, columns, rowKey, empty }: Props<Row>) {
  return (
    <Section title={title}>
      <Loaded of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{empty}</Empty>
          ) : (
            <Table
              caption={title}
              columns={columns}
              rows={rows}
              rowKey={rowKey}
              footer={<More more={list.more} of={title} />}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

interface Figure<Stats> {
  id: string;
  title: string;
  of: (stats: Stats) => number | null;
  as?: (n: number) => string;
  minor?: boolean;
  /** Above 0 it stands out. */
  alarming?: boolean;
}

/** A column of figures: `–` where there is none, and 0 less loud than the rest. */
function figure<Item, Stats>({ of, as = number, alarming, ...rest }: Figure<Stats>): Column<Entry<Item, Stats>> {
  const cell = ({ stats }: Entry<Item, Stats>): ComponentChildren => {
    const n = stats && of(stats);
    if (n === null) return <span class="muted">–</span>;
    if (n === 0) return <span class="muted">{as(n)}</span>;
    return alarming ? <strong class="alarming">{as(n)}</strong> : as(n);
  };
  return { ...rest, numeric: true, cell };
}

export function Queues({ list }: { list: Listed<QueueEntry> }) {
  const { columns: c, ...t } = texts.value.home;
  const { name, paused } = texts.value.common;
  const columns: Column<QueueEntry>[] = [
    {
      id: 'name',
      title: name,
      cell: ({ item }) => (
        <>
          <a href={queuePath('ticket', item.name)}>{item.name}</a> {item.paused && <Badge tone="warn">{paused}</Badge>}
        </>
      ),
    },
    figure({ id: 'waiting', title: c.waiting, of: (s) => s.waiting }),
    figure({ id: 'held', title: c.held, of: (s) => s.held }),
    figure({ id: 'delayed', title: c.delayed, of: (s) => s.delayed, minor: true }),
    figure({ id: 'oldest', title: c.oldest, of: (s) => s.oldestWaitingSeconds, as: duration }),
    figure({ id: 'rate', title: c.rate, of: (s) => s.claimsPerMinute, minor: true }),
    figure({ id: 'decided', title: c.decided, of: (s) => s.decided, minor: true }),
    figure({ id: 'expiries', title: c.expiries, of: (s) => s.leaseExpiries, minor: true }),
    figure({ id: 'dead', title: c.dead, of: (s) => s.dead, minor: true, alarming: true }),
  ];
  return <Figures title={t.queues} list={list} columns={columns} rowKey={({ item }) => item.name} empty={t.noQueues} />;
}

export function Topics({ list }: { list: Listed<TopicEntry> }) {
  const { columns: c, ...t } = texts.value.home;
  const columns: Column<TopicEntry>[] = [
    {
      id: 'name',
      title: texts.value.common.name,
      cell: ({ item }) => <a href={queuePath('job', item.name)}>{item.name}</a>,
    },
    figure({ id: 'ready', title: c.ready, of: (s) => s.ready }),
    figure({ id: 'reserved', title: c.reserved, of: (s) => s.reserved }),
    figure({ id: 'delayed', title: c.delayed, of: (s) => s.delayed, minor: true }),
    figure({ id: 'oldest', title: c.oldest, of: (s) => s.oldestReadySeconds, as: duration }),
    figure({ id: 'pops', title: c.pops, of: (s) => s.popsPerMinute, minor: true }),
    figure({ id: 'finished', title: c.finished, of: (s) => s.finished, minor: true }),
    figure({ id: 'timeouts', title: c.timeouts, of: (s) => s.timeouts, minor: true }),
    figure({ id: 'buried', title: c.buried, of: (s) => s.buried, alarming: true }),
  ];
  return <Figures title={t.topics} list={list} columns={columns} rowKey={({ item }) => item.name} empty={t.noTopics} />;
}

export function Courts({ list }: { list: Listed<CourtEntry> }) {
  const { columns: c, ...t } = texts.value.home;
  const columns: Column<CourtEntry>[] = [
    {
      id: 'name',
      title: texts.value.common.name,
      cell: ({ item }) => <a href={queuePath('case', item.name)}>{item.name}</a>,
    },
    figure({ id: 'open', title: c.open, of: (s) => s.open }),
    figure({ id: 'decided', title: c.decided, of: (s) => s.decided }),
    figure({ id: 'hung', title: c.hung, of: (s) => s.hung, alarming: true }),
    figure({ id: 'votes', title: c.votes, of: (s) => s.votesLastHour, minor: true }),
    figure({ id: 'wasted', title: c.wasted, of: (s) => s.wastedLastHour, minor: true }),
    figure({ id: 'agreement', title: c.agreement, of: (s) => s.kappa, as: (n) => number(n, 2), minor: true }),
  ];
  return <Figures title={t.courts} list={list} columns={columns} rowKey={({ item }) => item.name} empty={t.noCourts} />;
}

export function Groups({ list }: { list: Listed<GroupEntry> }) {
  const { columns: c, ...t } = texts.value.home;
  const columns: Column<GroupEntry>[] = [
    { id: 'name', title: texts.value.common.name, cell: (group) => group.id },
    { id: 'members', title: c.members, numeric: true, cell: (group) => number(group.size) },
    { id: 'created', title: c.created, numeric: true, minor: true, cell: (group) => moment(group.createdAt) },
  ];
  return <Figures title={t.groups} list={list} columns={columns} rowKey={(group) => group.id} empty={t.noGroups} />;
}
