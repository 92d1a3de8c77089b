import { useState } from 'preact/hooks';
import { type Draft, emptyDraft, read } from '../../components/form/draft.ts';
import { Fields } from '../../components/form/fields.tsx';
import { Verdicts } from '../../components/verdicts.tsx';
import { texts } from '../../texts/texts.ts';
import { decisionForm } from '../desk/decision.tsx';
import { verdictOf } from '../desk/schema.ts';

/** A queue's form as the desk shows it, to be tried: what is filled in is decided by no one. */
export const previewOf = (form: unknown) => <Preview form={form} />;

function Preview({ form }: { form: unknown }) {
  const t = texts.value;
  const { fields, decisionIn } = decisionForm(form as object | null);
  const [typed, setTyped] = useState<Draft['values']>({});
  const draft = { base: {}, values: { ...emptyDraft(fields).values, ...typed } };
  const verdict = verdictOf(fields);
  const { value, errors } = read(fields, draft, t.form.wrong);
  const set = ({ values }: Draft) => setTyped(values);
  return (
    <section
      class="stack"
      aria-label={t.queueSettings.preview}
      // what is typed here is no reason to save
      onKeyDown={(event) => event.key === 'Enter' && event.target instanceof HTMLInputElement && event.preventDefault()}
    >
      <h3>{t.queueSettings.preview}</h3>
      {form === null && <p class="hint">{t.queueSettings.noForm}</p>}
      <Fields
        fields={fields.filter((field) => field !== verdict)}
        draft={draft}
        onChange={set}
        errors={errors.filter(({ path }) => path in typed)}
        at="preview."
      />
      {verdict && (
        <Verdicts
          label={verdict.said[0]}
          hint={verdict.said[1]}
          path={`preview.${verdict.name}`}
          options={verdict.options}
          chosen={draft.values[verdict.name]}
          choose={(chosen) => setTyped({ ...typed, [verdict.name]: chosen })}
        />
      )}
      <p class="hint">{t.queueSettings.decides}</p>
      <code>
        {errors.length > 0
          ? errors.map(({ path, message }) => `${path}: ${message}`).join(' ')
          : JSON.stringify(decisionIn(value))}
      </code>
    </section>
  );
}
