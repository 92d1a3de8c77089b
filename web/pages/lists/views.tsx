import { api, data, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/resource.ts';
import { mayAct, session } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { type SavedAs, savedAs } from '../../components/form/spec.ts';
import { Loaded } from '../../components/page.tsx';
import { withQuery } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import type { Filter } from './filters.ts';

interface Props {
  filter: Filter;
  base: string;
}

/** Filters of tickets that were saved, and what may be done with the one that is shown. */
export function Views({ filter: { cursor: _, ...filter }, base }: Props) {
  const t = texts.value.lists;
  const views = useGet('/v1/views', { query: { limit: 500 } });
  const mine = session.value?.subject ?? session.value?.name ?? 'anonymous';
  const path = (name: string, by: string) => ({ path: { name }, ...(by !== mine && { query: { by } }) });
  const save = ({ name, shared }: SavedAs) =>
    data(api.PUT('/v1/views/{name}', { params: path(name, mine), body: { filter, shared: shared === true } }));
  const remove = (name: string, by: string) => data(api.DELETE('/v1/views/{name}', { params: path(name, by) }));
  const isShown = ({ filter: saved }: Schemas['SavedView']) => sorted(saved) === sorted(filter);
  return (
    <div class="row bar">
      <Loaded of={views}>
        {({ items }) => (
          <>
            <ul class="row plain" aria-label={t.views}>
              {items.map((view) => (
                <li key={`${view.by} ${view.name}`}>
                  <a
                    href={withQuery(base, { kind: 'ticket', ...view.filter })}
                    aria-current={isShown(view) ? 'true' : undefined}
                  >
                    <bdi>{view.name}</bdi>
                  </a>{' '}
                  {view.by !== mine && <span class="muted">{t.viewBy(view.by)}</span>}
                </li>
              ))}
            </ul>
            {items
              .filter((view) => isShown(view) && (view.by === mine || mayAct()))
              .map(({ name, by }) => (
                <Action
                  key={`${by} ${name}`}
                  label={t.removeView}
                  about={name}
                  will={t.removesView}
                  run={() => remove(name, by)}
                  onDone={views.refresh}
                  danger
                />
              ))}
          </>
        )}
      </Loaded>
      <Action
        label={t.saveView}
        fields={savedAs(texts.value.common, [t.shared, t.sharedHint])}
        submit={texts.value.common.save}
        run={save}
        onDone={views.refresh}
      />
    </div>
  );
}

const sorted = (filter: Filter) => JSON.stringify(Object.entries(filter).sort());

/** Leads to all of a list, as a table. */
export function DownloadCsv({ of = '/v1/tickets.csv', filter }: { of?: string; filter: Filter }) {
  return (
    <a href={withQuery(of, { ...filter, cursor: '' })} download>
      {texts.value.lists.csv}
    </a>
  );
}
