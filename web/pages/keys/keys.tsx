import { useState } from 'preact/hooks';
import { api, data, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { useList } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { Badge } from '../../components/badge.tsx';
import { Copied } from '../../components/copied.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { choice, count, type FieldSpec } from '../../components/form/spec.ts';
import { moment } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';

type Key = Schemas['Key'];

/** Keys: who may do what. Made and revoked here; shown when they are made only. */
export function Keys() {
  const t = texts.value;
  const list = useList('/v1/keys', {});
  return (
    <Page title={t.pages.keys} actions={<NewKey onMade={list.refresh} />}>
      <p class="muted lead">
        {t.keys.lead} {session.value?.open && t.keys.open}
      </p>
      <Listing title={t.pages.keys} list={list} columns={columns(list.refresh)} empty={t.keys.none} />
    </Page>
  );
}

function columns(refresh: () => void): Column<Key>[] {
  const { keys: t, common, items, schedules } = texts.value;
  const c = t.columns;
  return [
    { title: common.name, cell: ({ name }) => name },
    { title: t.role[0], cell: ({ role }) => role },
    { title: items.fields.state, cell: (key) => <State of={key} /> },
    { title: t.subject[0], cell: ({ subject }) => subject ?? '–' },
    { title: t.queues[0], cell: ({ queues }) => queues?.join(', ') ?? t.all },
    { title: c.ends, cell: ({ expiresAt }) => (expiresAt ? moment(expiresAt) : t.never) },
    { title: c.made, cell: ({ createdAt }) => moment(createdAt) },
    { title: schedules.columns.actions, numeric: true, cell: (key) => <Revoke of={key} refresh={refresh} /> },
  ];
}

function State({ of: { revokedAt, expiresAt } }: { of: Key }) {
  const [shownAt] = useState(serverNow);
  const t = texts.value.keys;
  if (revokedAt) return <Badge tone="bad">{t.revoked}</Badge>;
  if (expiresAt && Date.parse(expiresAt) <= shownAt) return <Badge tone="warn">{t.ended}</Badge>;
  return <Badge tone="good">{texts.value.items.states.active}</Badge>;
}

function Revoke({ of: { id, name, revokedAt }, refresh }: { of: Key; refresh: () => void }) {
  const t = texts.value.keys;
  if (revokedAt) return null;
  const revoke = () => data(api.DELETE('/v1/keys/{id}', { params: { path: { id } } }));
  return (
    <Action
      {...{ label: t.revoke, about: name, title: t.revokeTitle(name), run: revoke, done: t.revokedSaid(name) }}
      onDone={refresh}
      will={
        <>
          {t.revokeHint} <code class="muted">{id}</code>
        </>
      }
      danger
    />
  );
}

const keyFields = ({ keys: t }: Texts): FieldSpec[] => [
  { ...choice('role', t.role, t.roles, 'reviewer'), proposed: true },
  { kind: 'text', name: 'subject', said: t.subject, empty: 'omit' },
  { kind: 'text', name: 'name', said: t.name, empty: 'omit' },
  { kind: 'moment', name: 'expiresAt', said: t.expiresAt, empty: 'null' },
  { kind: 'lines', name: 'queues', said: t.queues, empty: 'null' },
  count('callsPerSecond', t.callsPerSecond, null),
];

/** Makes a key in a dialog, and shows it there this once. */
function NewKey({ onMade }: { onMade: () => void }) {
  const t = texts.value.keys;
  const [made, setMade] = useState<Schemas['MadeKey'] | null>(null);
  const make = async (body: Schemas['NewKey']) => setMade(await data(api.POST('/v1/keys', { body })));
  return (
    <>
      <Action primary label={t.create} fields={keyFields(texts.value)} submit={t.make} run={make} onDone={onMade} />
      <Dialog title={t.shown} open={made !== null} onClose={() => setMade(null)}>
        <p>{t.shownHint}</p>
        <Copied label={t.key} text={made?.key ?? ''} />
      </Dialog>
    </>
  );
}
