import { useState } from 'preact/hooks';
import { api, data, type Schemas } from '../../api/client.ts';
import { limited } from '../../api/limited.ts';
import { usePages } from '../../api/pages.ts';
import { session } from '../../api/session.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty, Loaded } from '../../components/feedback.tsx';
import { Field } from '../../components/field.tsx';
import { duration, number } from '../../components/format.ts';
import { More } from '../../components/more.tsx';
import { Page, Section } from '../../components/page.tsx';
import { personAt } from '../../components/person.ts';
import { ChoosePerson, PersonShown } from '../../components/person.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import './desk.css';
import { setSkills, skills } from './skills.ts';

const PAGE = 50;
const inTurn = limited(4);

interface Row {
  queue: Schemas['Queue'];
  stats: Schemas['QueueStats'] | null;
}

/** Where a reviewer chooses at which queue to work. */
export function DeskQueues() {
  const t = texts.value;
  if (personAt(session.value) === null)
    return (
      <Page title={t.pages.desk}>
        <ChoosePerson hint={t.desk.whoHint} />
      </Page>
    );
  return (
    <Page title={t.pages.desk} actions={<PersonShown />}>
      <Queues />
      <Skills />
    </Page>
  );
}

async function load(cursor: string | undefined, signal: AbortSignal) {
  const query = { limit: PAGE, ...(cursor && { cursor }) };
  const { items, nextCursor } = await data(api.GET('/v1/queues', { params: { query }, signal }));
  const statsOf = ({ name: queue }: Schemas['Queue']) =>
    inTurn(() => data(api.GET('/v1/queues/{queue}/stats', { params: { path: { queue } }, signal }))).catch(() => null);
  const rows = items.map(async (queue): Promise<Row> => ({ queue, stats: await statsOf(queue) }));
  return { items: await Promise.all(rows), nextCursor };
}

function Queues() {
  const { desk: t, common } = texts.value;
  const list = usePages(load, [], ({ kind }) => kind === 'ticket');
  const figure = (n: number | null | undefined, as = number) => (n === null || n === undefined ? '–' : as(n));
  return (
    <Section title={t.queues}>
      <Loaded of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t.noQueues}</Empty>
          ) : (
            <Table
              caption={t.queues}
              columns={[
                { id: 'name', title: common.name, cell: ({ queue }: Row) => <QueueLink queue={queue} /> },
                { id: 'waiting', title: t.columns.waiting, numeric: true, cell: ({ stats }) => figure(stats?.waiting) },
                {
                  id: 'held',
                  title: t.columns.held,
                  numeric: true,
                  minor: true,
                  cell: ({ stats }) => figure(stats?.held),
                },
                {
                  id: 'oldest',
                  title: t.columns.oldest,
                  numeric: true,
                  cell: ({ stats }) => figure(stats?.oldestWaitingSeconds, duration),
                },
              ]}
              rows={rows}
              rowKey={({ queue }) => queue.name}
              footer={<More more={list.more} of={t.queues} />}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

function QueueLink({ queue: { name, paused } }: { queue: Schemas['Queue'] }) {
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
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const isRight = setSkills(typed);
    setWrong(!isRight);
    if (isRight) toast(t.skillsSaved);
  };
  return (
    <Section title={t.skills}>
      <form class="person-form" onSubmit={save}>
        <Field label={t.skills} hint={t.skillsHint} error={wrong ? t.skillsWrong : undefined}>
          {(field) => (
            <input
              {...field}
              type="text"
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit">{texts.value.common.save}</button>
      </form>
    </Section>
  );
}
