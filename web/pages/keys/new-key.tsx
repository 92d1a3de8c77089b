import { useState } from 'preact/hooks';
import { api, data, type Schemas } from '../../api/client.ts';
import { Action } from '../../components/action.tsx';
import { Copied } from '../../components/copied.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { count, type FieldSpec } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';
import { texts } from '../../texts/texts.ts';

const keyFields = ({ keys: t }: Texts): FieldSpec[] => [
  { kind: 'choice', name: 'role', said: t.role, options: Object.entries(t.roles), initial: 'reviewer', proposed: true },
  { kind: 'text', name: 'subject', said: t.subject, empty: 'omit' },
  { kind: 'text', name: 'name', said: t.name, empty: 'omit' },
  { kind: 'moment', name: 'expiresAt', said: t.expiresAt, empty: 'null' },
  { kind: 'lines', name: 'queues', said: t.queues, empty: 'null' },
  count('callsPerSecond', t.callsPerSecond, null),
];

/** Makes a key in a dialog, and shows it there this once. */
export function NewKey({ onMade }: { onMade: () => void }) {
  const t = texts.value.keys;
  const [made, setMade] = useState<Schemas['MadeKey'] | null>(null);
  const make = async (body: Readonly<Record<string, unknown>>) => {
    setMade(await data(api.POST('/v1/keys', { body: body as Schemas['NewKey'] })));
    onMade();
  };
  return (
    <>
      <Action primary label={t.create} fields={keyFields(texts.value)} submit={t.make} run={make} />
      <Dialog title={t.shown} open={made !== null} onClose={() => setMade(null)}>
        <p>{t.shownHint}</p>
        <Copied label={t.key} text={made?.key ?? ''} />
      </Dialog>
    </>
  );
}
