import { CallError, problemOf } from '../../api/problem.ts';
import { useQueues } from '../../api/resource.ts';
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

const text = { kind: 'text', empty: 'omit' } as const;

/** The ticket is there, so it is the queue that is not. */
function atQueue(error: unknown): never {
  const problem = problemOf(error);
  const errors = problem.code === 'not_found' ? [{ path: 'queue', message: problem.detail }] : problem.errors;
  throw new CallError({ ...problem, errors });
}

/** Skips or transfers the ticket, with a reason. */
export function LeaveDialog({ desk, leaving, close }: Props) {
  const { items, ...all } = texts.value;
  const t = all.desk.leave;
  const isTransfer = leaving === 'transfer';
  const suggestions = useQueues().map(({ name }) => name);
  const { fields: f } = items;
  const why: FieldSpec = { ...text, name: 'reason', said: [f.reason, isTransfer ? '' : t.skipHint], most: 2_000 };
  const to: FieldSpec = { ...text, name: 'queue', said: [f.queue, t.transferHint], empty: 'required', suggestions };
  const fields = isTransfer ? [to, why] : [why];
  const leave = ({ queue = '', reason = '' }: { queue?: string; reason?: string }) =>
    isTransfer ? desk.transfer(queue.trim(), reason.trim()).catch(atQueue) : desk.skip(reason.trim());
  const [title, submit] = isTransfer ? [t.transferTitle, items.actions.transfer.label] : [t.skipTitle, t.skip];
  return <ActionDialog {...{ title, fields, submit }} run={leave} onClose={close} />;
}
