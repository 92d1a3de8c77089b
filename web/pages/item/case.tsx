import { api, data, get, type Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { Badge, State } from '../../components/badge.tsx';
import type { FieldSpec } from '../../components/form/spec.ts';
import { moment, number } from '../../components/format.ts';
import { type Fact, linked } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { queuePath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { ItemView, JsonSection } from './item-view.tsx';
import { LooksSection } from './looks.tsx';
import { isAbout } from './sources.ts';
import { reasonField, type Why } from './ticket-actions.tsx';

type Case = Schemas['Case'];

export function CaseParts({ id }: { id: string }) {
  return (
    <ItemView
      {...{ kind: 'case', id }}
      load={(signal) => get('/v1/cases/{id}', { path: { id } }, signal)}
      facts={factsOf}
      actions={({ state }, refresh) =>
        state === 'open' && mayAct('producer') && <Invalidate id={id} refresh={refresh} />
      }
    >
      {(found, refresh) => (
        <>
          <JsonSection title={texts.value.items.body} value={found.body} erased={found.erased} />
          {(found.of || found.state === 'decided') && <CaseLooks {...{ found, refresh }} />}
          {mayAct('producer', 'agent') && <Votes id={id} />}
        </>
      )}
    </ItemView>
  );
}

function factsOf(found: Case): Fact[] {
  const { fields: f } = texts.value.items;
  const tally = Object.entries(found.tally).map(([option, n]) => `${option}: ${number(n)}`);
  return [
    [f.state, <State key="state" state={found.state} />],
    linked(f.court, queuePath('case', found.court), found.court),
    found.winner !== null && [f.winner, <Winner key="winner" winner={found.winner} standing={found.standing} />],
    [f.tally, tally.join(' · ')],
    found.state === 'open' && [f.votesLeft, number(found.votesLeft)],
    [f.holds, number(found.holds)],
    [f.wasted, number(found.wasted)],
    found.deadlineAt !== null && [f.deadline, <When key="deadline" at={found.deadlineAt} />],
    found.endedAt !== null && [f.endedAt, <When key="ended" at={found.endedAt} />],
    found.endReason !== null && [f.reason, <bdi key="reason">{found.endReason}</bdi>],
    [f.createdAt, <When key="created" at={found.createdAt} />],
    found.parties.length > 0 && [f.parties, fewOf(found.parties.map((party) => party.id))],
  ];
}

/** The verdict of the case itself, and whether another one counts now. */
function Winner({ winner, standing }: { winner: string; standing: Case['standing'] }) {
  if (standing === null || standing.winner === winner) return <>{winner}</>;
  return (
    <>
      {winner} <Badge tone="bad">{texts.value.items.events.overturned}</Badge>
    </>
  );
}

/** The second looks at a verdict, and a button that appeals against it. */
function CaseLooks({ found: { id, of, looks, standing, erased }, refresh }: { found: Case; refresh: () => void }) {
  const from = standing?.case === id ? undefined : standing?.case;
  return (
    <LooksSection
      {...{ kind: 'case', of, looks }}
      standing={standing && { ...standing, said: standing.winner ?? '–', from }}
      actions={!of && !erased && mayAct('producer') && <Appeal {...{ id, refresh }} />}
    />
  );
}

function Appeal({ id, refresh }: { id: string; refresh: () => void }) {
  const { looks: t, fields } = texts.value.items;
  const asked: FieldSpec[] = [
    { kind: 'text', name: 'by', said: [t.by, t.byHint], empty: 'omit' },
    { kind: 'text', name: 'reason', said: [fields.reason, t.reasonHint], empty: 'omit' },
  ];
  const appeal = (given: Omit<Schemas['AskForCaseLook'], 'cause'>) =>
    data(api.POST('/v1/cases/{id}/looks', { params: { path: { id } }, body: { ...given, cause: 'appeal' } }));
  return <Action label={t.appeal} fields={asked} run={appeal} onDone={refresh} done={t.appealed} />;
}

const SHOWN = 10;

/** The first of them, and how many more there are. */
export function fewOf(names: string[]): string {
  const few = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${few} ${texts.value.items.andMore(number(names.length - SHOWN))}` : few;
}

function Invalidate({ id, refresh }: { id: string; refresh: () => void }) {
  const t = texts.value.items.actions;
  const run = ({ reason = '' }: Why) =>
    data(api.POST('/v1/cases/{id}/invalidate', { params: { path: { id } }, body: { reason } }));
  const will = t.invalidateCaseWill;
  return <Action {...t.invalidateCase} {...{ will, run }} fields={[reasonField()]} onDone={refresh} danger />;
}

function Votes({ id }: { id: string }) {
  const { items, numbers, jury } = texts.value;
  const t = items.votes;
  const votes = useList('/v1/cases/{id}/votes', { path: { id } }, isAbout('case', id));
  const columns: Column<Schemas['Vote']>[] = [
    { title: t.juror, cell: ({ juror }) => juror },
    { title: jury.voting.title, cell: ({ option }) => option },
    { title: t.counted, cell: ({ counted }) => (counted ? '✓' : <Badge tone="warn">{t.late}</Badge>) },
    { title: t.comment, cell: ({ comment }) => <bdi>{comment ?? '–'}</bdi> },
    { title: t.at, numeric: true, cell: ({ at }) => moment(at) },
  ];
  return (
    <Listing
      title={numbers.charts.votes}
      list={votes}
      columns={columns}
      rowKey={({ juror, at }) => `${juror} ${at}`}
      empty={t.none}
    />
  );
}
