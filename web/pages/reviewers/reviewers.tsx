import { api, data, get, orNull, type Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { mayAct } from '../../api/session.ts';
import { Action, DeleteButton } from '../../components/action.tsx';
import { refusal } from '../../components/form/form.tsx';
import { count, type FieldSpec, type Given, proposed, zone } from '../../components/form/spec.ts';
import { moment, number } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { Erase } from '../item/item-view.tsx';

type Reviewer = Schemas['Reviewer'];

/** The register: what the server knows of those who decide. */
export function Reviewers() {
  const { pages, reviewers: t } = texts.value;
  const list = useList('/v1/reviewers', {});
  return (
    <Page title={pages.reviewers}>
      <p class="muted lead">{t.lead}</p>
      <Listing
        title={pages.reviewers}
        list={list}
        columns={columns(list.refresh)}
        empty={t.none}
        actions={<Edit refresh={list.refresh} />}
      />
    </Page>
  );
}

function columns(refresh: () => void): Column<Reviewer>[] {
  const { reviewers: t, common, schedules } = texts.value;
  const exposed = ({ exposure = {} }: Reviewer) => Object.entries(exposure).map(([of, n]) => `${of} ${number(n)}`);
  return [
    { title: common.name, cell: ({ name }) => <bdi>{name}</bdi> },
    { title: t.displayName[0], cell: ({ displayName }) => <bdi>{displayName ?? '–'}</bdi> },
    { title: t.person[0], cell: ({ person }) => <bdi>{person ?? '–'}</bdi> },
    { title: t.skills[0], cell: ({ skills = [] }) => skills.join(', ') || '–' },
    { title: t.perDay[0], numeric: true, cell: ({ perDay }) => (perDay == null ? '–' : number(perDay)) },
    { title: t.exposure[0], cell: (one) => exposed(one).join(', ') || '–' },
    { title: t.awayUntil[0], cell: ({ awayUntil }) => (awayUntil ? moment(awayUntil) : '–') },
    { title: schedules.columns.actions, cell: (one) => <OneActions of={one} refresh={refresh} /> },
  ];
}

function OneActions({ of, refresh }: { of: Reviewer; refresh: () => void }) {
  const params = { path: { name: of.name } };
  const remove = () => data(api.DELETE('/v1/reviewers/{name}', { params }));
  return (
    <span class="actions">
      <Edit of={of} refresh={refresh} />
      {mayAct() && <Erase of={{ person: of.name }} about={of.name} onDone={refresh} />}
      <DeleteButton name={of.name} hint={texts.value.reviewers.deleteHint} run={remove} onDone={refresh} isOneOfMany />
    </span>
  );
}

function fields(isNew: boolean): FieldSpec[] {
  const t = texts.value.reviewers;
  return [
    ...(isNew ? [{ kind: 'text', name: 'name', said: t.name, empty: 'required' } as const] : []),
    { kind: 'text', name: 'displayName', said: t.displayName, empty: 'null' },
    { kind: 'text', name: 'person', said: t.person, empty: 'null' },
    { kind: 'lines', name: 'skills', said: t.skills, empty: 'omit' },
    count('perDay', t.perDay, null),
    {
      ...{ kind: 'rows', name: 'exposure', said: t.exposure, row: t.row, add: t.add },
      fields: [{ kind: 'text', name: '0', said: t.category, empty: 'required' }, proposed(count('1', t.perDay, 10))],
    },
    { kind: 'moment', name: 'awayUntil', said: t.awayUntil, empty: 'null' },
    zone(t.timezone),
  ];
}

function Edit({ of, refresh }: { of?: Reviewer; refresh: () => void }) {
  const { reviewers: t, schedules, settings, common } = texts.value;
  const { name: given, createdAt: _made, updatedAt: _changed, ...rest } = of ?? {};
  const save = async ({ name = given, exposure, ...more }: Given) => {
    const now = await orNull(get('/v1/reviewers/{name}', { path: { name: String(name) } }));
    if (!of && now) throw refusal('invalid_request', [{ path: 'name', message: t.registered }]);
    if (of?.updatedAt !== now?.updatedAt) {
      refresh();
      throw refusal('changed', []);
    }
    const limits = (exposure as [string, number][]).map(({ 0: category, 1: perDay }) => [category, perDay]);
    const body = { ...more, exposure: Object.fromEntries(limits) } as Schemas['PutReviewer'];
    await data(api.PUT('/v1/reviewers/{name}', { params: { path: { name: String(name) } }, body }));
  };
  return (
    <Action
      label={of ? schedules.change : t.create}
      about={given}
      fields={fields(!of)}
      given={of ? { ...rest, exposure: Object.entries(of.exposure ?? {}) } : null}
      submit={common.save}
      run={save}
      onDone={refresh}
      done={settings.saved}
    />
  );
}
