import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { emptyDraft, read } from '../../components/form/draft.ts';
import { Form, Parts, refusal, useForm } from '../../components/form/form.tsx';
import type { Given, Part } from '../../components/form/spec.ts';
import { number } from '../../components/format.ts';
import { Button, type Fact, Facts, Loaded, Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toast } from '../../components/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import type { Foreseen, SettingsOf } from './settings-of.ts';
import { changedIn, mergeChanges } from './settings-of.ts';

interface Props {
  name: string;
  parts: readonly Part[];
  of: SettingsOf;
  /** What a dry run is told beside the settings, and what stands there as soon as it is known, unless someone was quicker. */
  trial?: { part: Part; given: Given | undefined };
  /** After each change: what else shows the settings looks again. */
  onSaved: () => void;
}

/** The settings of something as a form. It sends what was changed here; the rest stays as it is by then. */
export function SettingsEditor(props: Props) {
  const { name, of } = props;
  const found = useResource((signal) => of.load(name, signal), [name]);
  return <Loaded of={found}>{(settings) => <Editor key={name} {...props} given={settings} />}</Loaded>;
}

type EditorProps = Props & { given: Given | null };

function useSettings({ name, parts, of, trial, onSaved, given }: EditorProps) {
  const { settings: t, form: said } = texts.value;
  const fields = parts.flatMap((part) => part.fields);
  const form = useForm(fields, given);
  const tried = useForm(trial?.part.fields ?? [], trial?.given ?? null);
  useEffect(() => {
    if (trial?.given && !tried.isTouched) tried.reset(trial.given);
  }, [trial?.given === undefined]);
  const [base, setBase] = useState(given);
  const [foreseen, setForeseen] = useState<Foreseen | null>(null);
  const before = base ?? read(fields, emptyDraft(fields), said.wrong).value;
  const show = (settings: Given | null, fill: (settings: Given | null) => void) => {
    setBase(settings);
    fill(settings);
    setForeseen(null);
  };
  const send = (use: (settings: Given) => Promise<void>) =>
    form.submit(async (value) => {
      setForeseen(null);
      const { merged, clashing } = mergeChanges(before, value, (await of.load(name)) ?? before);
      const errors = clashing.map((path) => ({ path, message: t.conflictAt }));
      if (errors.length > 0) throw refusal('changed', errors);
      await use(merged);
    });
  return {
    ...{ form, tried, foreseen },
    isNew: base === null,
    isChanged: base === null || form.errors.length > 0 || changedIn(before, form.value).length > 0,
    discard: () => form.attempt(async () => show(await of.load(name), form.reset)),
    save: () =>
      send(async (settings) => {
        const { warnings, ...saved } = await of.save(name, settings);
        show(saved, form.saved);
        if (warnings) setForeseen({ warnings: warnings as string[] });
        toast(t.saved);
        onSaved();
      }),
    tryOut:
      of.tryOut &&
      (() =>
        send(async (settings) => {
          if (tried.errors.length > 0) throw refusal('invalid_request', tried.errors);
          setForeseen((await of.tryOut?.(name, { ...settings, ...tried.value })) ?? null);
        })),
  };
}

function Editor(props: EditorProps) {
  const t = texts.value.settings;
  const { form, tried, foreseen, isNew, isChanged, discard, save, tryOut } = useSettings(props);
  const { draft, setDraft, problem, busy } = form;
  const actions = (
    <>
      <Button does={t.save} look="primary" disabled={busy || !isChanged} />
      {tryOut && <Button does={t.dryRun} run={tryOut} disabled={busy} title={t.dryRunHint} />}
      {!isNew && isChanged && <Button does={t.discard} run={discard} look="quiet" disabled={busy} />}
      <output class="muted">{isChanged ? t.unsaved : t.nothingToSave}</output>
    </>
  );
  return (
    <Form of={form} onSubmit={() => void save()} actions={actions} isChanged={isChanged && !isNew}>
      {isNew && <p class="note">{t.isNew}</p>}
      <Parts parts={props.parts} draft={draft} onChange={setDraft} problem={problem} />
      {props.trial && (
        <Parts parts={[props.trial.part]} draft={tried.draft} onChange={tried.setDraft} problem={problem} />
      )}
      {foreseen && <Forecast of={foreseen} />}
    </Form>
  );
}

/** What a dry run has found, or a save has warned of. */
function Forecast({ of }: { of: Foreseen }) {
  const t = texts.value.settings;
  const found = 'total' in of ? <Moved of={of} /> : 'inUse' in of && <Judged of={of} />;
  return (
    <div role="status">
      {'warnings' in of &&
        of.warnings.map((warning) => (
          <p key={warning} class="note warn">
            {warning}
          </p>
        ))}
      {found && <Section title={t.dryRun}>{found}</Section>}
    </div>
  );
}

type Moving = Extract<Foreseen, { wouldMove: unknown }>;

function Moved({ of: { total, wouldMove, ticket } }: { of: Moving }) {
  const t = texts.value.settings;
  const columns: Column<Moving['wouldMove'][number]>[] = [
    { title: texts.value.items.kinds.ticket, cell: ({ id }) => id },
    { title: t.before, numeric: true, cell: ({ before }) => number(before) },
    { title: t.after, numeric: true, cell: ({ after }) => number(after) },
    { title: t.requiresThen, cell: ({ requires }) => requires && (requires.after.join(', ') || '–') },
  ];
  return (
    <>
      {ticket && (
        <p class="form-body">
          {t.tried(number(ticket.priority), ticket.requires.join(', ') || '–', ticket.rules.join(', ') || '–')}
        </p>
      )}
      <p class="form-body">
        {total === 0 ? t.wouldMoveNone : t.wouldMove(number(total))} {total > wouldMove.length && t.firstHundred}
      </p>
      {total > 0 && <Table caption={t.dryRun} columns={columns} rows={wouldMove} />}
    </>
  );
}

function Judged({ of: { wouldDecide, wouldHang, leavesOpen, inUse } }: { of: Extract<Foreseen, { inUse: unknown }> }) {
  const t = texts.value.settings;
  const cases = (say: (n: string) => string, ids: readonly string[]): Fact =>
    ids.length > 0 && [say(number(ids.length)), <code key="ids">{ids.join(', ')}</code>];
  if (inUse.length > 0) return <Facts facts={[cases(t.inUse, inUse)]} />;
  const longer = leavesOpen.map(({ id }) => id);
  return (
    <>
      {wouldDecide.length === 0 && <p class="form-body">{t.wouldDecideNone}</p>}
      <Facts facts={[cases(t.wouldDecide, wouldDecide), cases(t.wouldHang, wouldHang), cases(t.leavesOpen, longer)]} />
    </>
  );
}
