import type { ComponentChildren } from 'preact';
import { api, data, type Schemas } from '../../api/client.ts';
import { type Listed, usePages } from '../../api/pages.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty, Loaded } from '../../components/feedback.tsx';
import { duration, moment, number } from '../../components/format.ts';
import { More } from '../../components/more.tsx';
import { Page, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { NewOne } from './new-one.tsx';

const PAGE = 50;
const page = (cursor: string | undefined) => ({ query: { limit: PAGE, ...(cursor && { cursor }) } });

/** All queues, topics and courts with the settings that matter most; each leads to all of its own. */
export function Settings() {
  const t = texts.value;
  return (
    <Page title={t.pages.settings}>
      <Queues />
      <Topics />
      <Courts />
    </Page>
  );
}

interface ListProps<Row> {
  title: string;
  list: Listed<Row>;
  columns: Column<Row>[];
  empty: string;
  add: ComponentChildren;
}

function List<Row extends { name: string }>({ title, list, columns, empty, add }: ListProps<Row>) {
  const footer = <More more={list.more} of={title} />;
  return (
    <Section title={title} actions={add}>
      <Loaded of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{empty}</Empty>
          ) : (
            <Table caption={title} columns={columns} rows={rows} rowKey={({ name }) => name} footer={footer} />
          )
        }
      </Loaded>
    </Section>
  );
}

/** The first column: the name, which leads to the settings. */
function named<Row extends { name: string; paused?: boolean }>(folder: string): Column<Row> {
  const t = texts.value.common;
  return {
    id: 'name',
    title: t.name,
    cell: ({ name, paused }) => (
      <>
        <a href={`/settings/${folder}/${encodeURIComponent(name)}`}>{name}</a>{' '}
        {paused && <Badge tone="warn">{t.paused}</Badge>}
      </>
    ),
  };
}

function Queues() {
  const { settings: t, home } = texts.value;
  const list = usePages((cursor, signal) => data(api.GET('/v1/queues', { params: page(cursor), signal })), []);
  const columns: Column<Schemas['Queue']>[] = [
    named('queues'),
    { id: 'lease', title: t.lease, numeric: true, cell: (q) => duration(q.leaseSeconds ?? 0) },
    { id: 'held', title: home.columns.held, numeric: true, minor: true, cell: (q) => number(q.maxHeld ?? 1) },
    { id: 'changed', title: t.changed, numeric: true, minor: true, cell: (q) => moment(q.updatedAt) },
  ];
  const add = <NewOne label={t.newQueue} folder="queues" hint={t.newName} />;
  return <List title={t.queues} list={list} columns={columns} empty={t.noQueues} add={add} />;
}

function Topics() {
  const { settings: t, common, topicSettings } = texts.value;
  const list = usePages((cursor, signal) => data(api.GET('/v1/topics', { params: page(cursor), signal })), []);
  const columns: Column<Schemas['Topic']>[] = [
    named('topics'),
    { id: 'attempts', title: t.attempts, numeric: true, cell: ({ maxAttempts: n }) => (n ? number(n) : '–') },
    { id: 'push', title: topicSettings.push[0], minor: true, cell: ({ push }) => push?.url ?? common.none },
    {
      id: 'schedules',
      title: t.schedules,
      cell: ({ name }) => (
        <a href={`/schedules?topic=${encodeURIComponent(name)}`} aria-label={`${t.schedules}: ${name}`}>
          {t.schedules}
        </a>
      ),
    },
  ];
  const add = <NewOne label={t.newTopic} folder="topics" hint={t.newTopicName} />;
  return <List title={t.topics} list={list} columns={columns} empty={t.noTopics} add={add} />;
}

function Courts() {
  const { settings: t, courtSettings } = texts.value;
  const list = usePages((cursor, signal) => data(api.GET('/v1/courts', { params: page(cursor), signal })), []);
  const modes: Record<string, string> = courtSettings.modes;
  const columns: Column<Schemas['Court']>[] = [
    named('courts'),
    { id: 'votes', title: t.votes, numeric: true, cell: (c) => number(c.votesToWin ?? 0) },
    { id: 'mode', title: courtSettings.mode[0], minor: true, cell: ({ mode = 'claim' }) => modes[mode] ?? mode },
    { id: 'changed', title: t.changed, numeric: true, minor: true, cell: (c) => moment(c.updatedAt) },
  ];
  const add = <NewOne label={t.newCourt} folder="courts" hint={t.newName} />;
  return <List title={t.courts} list={list} columns={columns} empty={t.noCourts} add={add} />;
}
