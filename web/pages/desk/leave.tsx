import { useGet } from '../../api/resource.ts';
import { ActionDialog } from '../../components/action.tsx';
import type { FieldSpec } from '../../components/form/spec.ts';
import { texts } from '../../texts/texts.ts';
import type { Desk } from './desk.ts';

export type Leaving = 'skip' | 'transfer' | null;

interface Props {
  desk: Desk;
  leaving: NonNullable<Leaving>;
  close: () => void;
}

const MOST = 500;

/** Skips or transfers the ticket, with a reason. */
export function LeaveDialog({ desk, leaving, close }: Props) {
  const { items, ...all } = texts.value;
  const t = all.desk.leave;
  const isTransfer = leaving === 'transfer';
  const known = useGet('/v1/queues', { query: { limit: MOST } });
  const suggestions = known.data?.items.map(({ name }) => name) ?? [];
  const fields: FieldSpec[] = [
    {
      kind: 'text',
      name: 'reason',
      said: [items.fields.reason, isTransfer ? '' : t.skipHint],
      empty: 'omit',
      most: 2_000,
    },
  ];
  if (isTransfer)
    fields.unshift({
      kind: 'text',
      name: 'queue',
      said: [items.fields.queue, t.transferHint],
      empty: 'required',
      suggestions,
    });
  const leave = async ({ queue, reason }: Readonly<Record<string, unknown>>) => {
    const why = String(reason ?? '').trim();
    await (isTransfer ? desk.transfer(String(queue).trim(), why) : desk.skip(why));
  };
  const [title, submit] = isTransfer ? [t.transferTitle, t.transfer] : [t.skipTitle, t.skip];
  return <ActionDialog {...{ title, fields, submit }} run={leave} onClose={close} />;
}
