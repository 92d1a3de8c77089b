import { useLocation } from 'preact-iso';
import { Field } from '../../components/field.tsx';
import type { ListKind } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { FILTERS, type Filter, fromLocal, STATES, toLocal, withFilter } from './filters.ts';
import './lists.css';

interface Props {
  kind: ListKind;
  filter: Filter;
  base: string;
  /** Kinds to choose from; none: it is given. */
  kinds?: ListKind[];
  fixedQueue?: boolean;
}

/** What a list shows. Its values go into the address. */
export function FilterForm({ kind, filter, base, kinds = [], fixedQueue = false }: Props) {
  const { route } = useLocation();
  const t = texts.value.lists;
  const has = (name: keyof Filter) => FILTERS[kind].includes(name) && !(fixedQueue && name === 'queue');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    const [after, before] = [fromLocal(text('after')), fromLocal(text('before'))];
    const wanted = { state: text('state'), queue: text('queue'), person: text('person') };
    const chosen = fixedQueue ? {} : { kind };
    route(withFilter(base, { ...chosen, ...wanted, ...(after && { after }), ...(before && { before }) }));
  };
  return (
    // another kind or filter is another form, with its own values
    <form key={`${kind} ${JSON.stringify(filter)}`} class="filters" onSubmit={submit}>
      {kinds.length > 1 && (
        <Field label={t.kind}>
          {(field) => (
            <select
              {...field}
              value={kind}
              onChange={(event) => route(withFilter(base, { kind: event.currentTarget.value as ListKind }))}
            >
              {kinds.map((one) => (
                <option key={one} value={one}>
                  {t.kinds[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {has('queue') && <TextField name="queue" label={t.queueOf[kind]} value={filter.queue} />}
      <Field label={t.state}>
        {(field) => (
          <select {...field} name="state" value={filter.state ?? ''}>
            <option value="">{t.anyState}</option>
            {STATES[kind].map((state) => (
              <option key={state} value={state}>
                {texts.value.items.states[state]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {has('person') && <TextField name="person" label={t.person} value={filter.person} />}
      {has('after') && <TextField name="after" label={t.after} value={toLocal(filter.after)} type="datetime-local" />}
      {has('before') && (
        <TextField name="before" label={t.before} value={toLocal(filter.before)} type="datetime-local" />
      )}
      <button type="submit">{t.show}</button>
    </form>
  );
}

interface TextProps {
  name: string;
  label: string;
  value: string | undefined;
  type?: 'text' | 'datetime-local';
}

function TextField({ name, label, value = '', type = 'text' }: TextProps) {
  return (
    <Field label={label}>
      {(field) =>
        type === 'text' ? (
          <input {...field} name={name} type="text" defaultValue={value} />
        ) : (
          <input {...field} name={name} type="datetime-local" defaultValue={value} />
        )
      }
    </Field>
  );
}
