import { useEffect, useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Field } from '../../components/field.tsx';
import { texts } from '../../texts/texts.ts';
import { type FigureKind, KINDS, pathWith, RANGES, type Range, type Wanted } from './wanted.ts';

interface Props {
  wanted: Wanted;
  /** Queues to choose from; another one may be typed. */
  names: string[];
}

/** What the figures are of. It stands in the address, so that it can be kept and sent to someone. */
export function Choice({ wanted, names }: Props) {
  const { route } = useLocation();
  const t = texts.value.numbers;
  const { kind, queue, range } = wanted;
  const listId = useId();
  const [draft, setDraft] = useState(queue);
  useEffect(() => setDraft(queue), [kind, queue]);
  const show = (changed: Partial<Wanted>) => route(pathWith({ ...wanted, ...changed }));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    show({ queue: draft.trim() });
  };
  return (
    <form class="panel numbers-choice" aria-label={t.choose} onSubmit={submit}>
      <Field label={t.kind}>
        {(field) => (
          <select
            {...field}
            value={kind}
            onChange={(event) => show({ kind: event.currentTarget.value as FigureKind, queue: '' })}
          >
            {KINDS.map((one) => (
              <option key={one} value={one}>
                {texts.value.deliveries.kinds[one]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t.range}>
        {(field) => (
          <select {...field} value={range} onChange={(event) => show({ range: event.currentTarget.value as Range })}>
            {(Object.keys(RANGES) as Range[]).map((one) => (
              <option key={one} value={one}>
                {t.ranges[one]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t.queueOf[kind]}>
        {(field) => (
          <input
            {...field}
            type="text"
            list={listId}
            maxLength={200}
            autocomplete="off"
            spellcheck={false}
            placeholder={t.all[kind]}
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
        )}
      </Field>
      <datalist id={listId}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="submit">{t.show}</button>
    </form>
  );
}
