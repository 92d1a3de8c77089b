import { useLocation } from 'preact-iso';
import { Field } from '../../components/field.tsx';
import { Page, Section } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import './deliveries.css';
import { filterIn, KINDS, pathWith, SHOWN, type Wanted } from './filters.ts';
import { DeliveryList } from './list.tsx';

/** Deliveries of all items: what is pending, what has failed, and why; sent again one by one or several at once. */
export function Deliveries() {
  const { query } = useLocation();
  const t = texts.value.deliveries;
  const wanted = filterIn(query);
  const states = wanted.state === 'undelivered' ? (['failed', 'pending'] as const) : ([wanted.state] as const);
  return (
    <Page title={texts.value.pages.deliveries}>
      <p class="muted lead">{t.lead}</p>
      <Section title={t.show}>
        <Filters wanted={wanted} />
      </Section>
      {states.map((state) => (
        <DeliveryList key={state} state={state} wanted={wanted} />
      ))}
    </Page>
  );
}

function Filters({ wanted }: { wanted: Wanted }) {
  const { route } = useLocation();
  const t = texts.value.deliveries;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    route(pathWith({ state: text('state'), kind: text('kind'), queue: text('queue'), host: text('host') }));
  };
  return (
    <form key={JSON.stringify(wanted)} class="deliveries-filters" onSubmit={submit}>
      <Field label={t.state}>
        {(field) => (
          <select {...field} name="state" value={wanted.state}>
            {SHOWN.map((state) => (
              <option key={state} value={state}>
                {t[state]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t.kind}>
        {(field) => (
          <select {...field} name="kind" value={wanted.kind ?? ''}>
            <option value="">{t.allKinds}</option>
            {KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {t.kinds[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t.queue}>
        {(field) => <input {...field} name="queue" type="text" defaultValue={wanted.queue ?? ''} />}
      </Field>
      <Field label={t.host} hint={t.hostHint}>
        {(field) => <input {...field} name="host" type="text" defaultValue={wanted.host ?? ''} />}
      </Field>
      <button type="submit">{t.apply}</button>
    </form>
  );
}
