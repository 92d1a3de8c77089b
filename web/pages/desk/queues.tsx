import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { Badge } from '../../components/badge.tsx';
import { TextField } from '../../components/field.tsx';
import { duration, number } from '../../components/format.ts';
import { Button, Section, submitting } from '../../components/page.tsx';
import { PersonPage } from '../../components/person.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import './desk.css';
import { setSkills, skills } from './skills.ts';

type Row = Schemas['ListedQueue'];

/** Where a reviewer chooses at which queue to work. */
export function DeskQueues() {
  const { desk, pages } = texts.value;
  return (
    <PersonPage title={pages.desk} hint={desk.whoHint}>
      {() => [<Queues key="queues" />, <Skills key="skills" />]}
    </PersonPage>
  );
}

function Queues() {
  const { desk: t, common, items, home } = texts.value;
  const list = useList('/v1/queues', { query: { stats: true } }, ({ kind }) => kind === 'ticket');
  const figure = (n: number | null | undefined, as = number) => (n === null || n === undefined ? '–' : as(n));
  const columns: Column<Row>[] = [
    { title: common.name, cell: (queue) => <QueueLink queue={queue} /> },
    { title: items.states.waiting ?? '', numeric: true, cell: ({ stats }) => figure(stats?.waiting) },
    { title: items.states.held ?? '', numeric: true, cell: ({ stats }) => figure(stats?.held) },
    {
      title: home.columns.oldest,
      numeric: true,
      cell: ({ stats }) => figure(stats?.oldestWaitingSeconds, duration),
    },
  ];
  return <Listing title={t.queues} list={list} columns={columns} empty={t.noQueues} />;
}

function QueueLink({ queue: { name, paused } }: { queue: Row }) {
  return (
    <>
      <a href={`/desk/${encodeURIComponent(name)}`}>{name}</a>{' '}
      {paused && <Badge tone="warn">{texts.value.common.paused}</Badge>}
    </>
  );
}

function Skills() {
  const t = texts.value.desk;
  const [typed, setTyped] = useState(skills.peek().join(', '));
  const [wrong, setWrong] = useState(false);
  const save = () => {
    const isRight = setSkills(typed);
    setWrong(!isRight);
    if (isRight) toast(t.skillsSaved);
  };
  return (
    <Section title={t.skills}>
      <form class="person-form stack inset" onSubmit={submitting(save)}>
        <TextField
          label={t.skills}
          hint={t.skillsHint}
          error={wrong ? t.skillsWrong : ''}
          value={typed}
          set={setTyped}
        />
        <Button does={texts.value.common.save} />
      </form>
    </Section>
  );
}
