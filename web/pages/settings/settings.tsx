import { useLocation } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { Action } from '../../components/action.tsx';
import { Badge } from '../../components/badge.tsx';
import type { FieldSpec } from '../../components/form/spec.ts';
import { moment, number, span } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';

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

/** Asks for a name and goes to its settings; nothing is made before they are saved. */
function NewOne({ label, folder }: { label: string; folder: string }) {
  const { settings: t, common } = texts.value;
  const { route } = useLocation();
  const fields: FieldSpec[] = [{ kind: 'text', name: 'name', said: [common.name, t.newName], empty: 'required' }];
  const go = async ({ name }: { name: string }) => route(`/settings/${folder}/${encodeURIComponent(name.trim())}`);
  return <Action label={label} fields={fields} submit={t.go} run={go} />;
}

/** The first column: the name, which leads to the settings. */
function named<Row extends { name: string; paused?: boolean }>(folder: string): Column<Row> {
  const t = texts.value.common;
  return {
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
  const { settings: t, queueSettings } = texts.value;
  const list = useList('/v1/queues', {});
  const columns: Column<Schemas['Queue']>[] = [
    named('queues'),
    { title: queueSettings.leaseSeconds[0], numeric: true, cell: (q) => span(q.leaseSeconds ?? 0) },
    { title: queueSettings.maxHeld[0], numeric: true, cell: (q) => number(q.maxHeld ?? 1) },
    { title: t.changed, numeric: true, cell: (q) => moment(q.updatedAt) },
  ];
  const add = <NewOne label={t.newQueue} folder="queues" />;
  return <Listing title={t.queues} list={list} columns={columns} empty={t.noQueues} actions={add} />;
}

function Topics() {
  const { settings: t, common, pages, topicSettings } = texts.value;
  const list = useList('/v1/topics', {});
  const columns: Column<Schemas['Topic']>[] = [
    named('topics'),
    { title: t.attempts, numeric: true, cell: ({ maxAttempts: n }) => (n ? number(n) : '–') },
    { title: topicSettings.push[0], cell: ({ push }) => push?.url ?? common.none },
    {
      title: pages.schedules,
      cell: ({ name }) => (
        <a href={`/schedules?topic=${encodeURIComponent(name)}`} aria-label={`${pages.schedules}: ${name}`}>
          {pages.schedules}
        </a>
      ),
    },
  ];
  const add = <NewOne label={t.newTopic} folder="topics" />;
  return <Listing title={t.topics} list={list} columns={columns} empty={t.noTopics} actions={add} />;
}

function Courts() {
  const { settings: t, courtSettings } = texts.value;
  const list = useList('/v1/courts', {});
  const modes: Record<string, string> = courtSettings.modes;
  const columns: Column<Schemas['Court']>[] = [
    named('courts'),
    { title: courtSettings.votesToWin[0], numeric: true, cell: (c) => number(c.votesToWin ?? 0) },
    { title: courtSettings.mode[0], cell: ({ mode = 'claim' }) => modes[mode] ?? mode },
    { title: t.changed, numeric: true, cell: (c) => moment(c.updatedAt) },
  ];
  const add = <NewOne label={t.newCourt} folder="courts" />;
  return <Listing title={t.courts} list={list} columns={columns} empty={t.noCourts} actions={add} />;
}
