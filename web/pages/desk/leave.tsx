import { useState } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { Dialog } from '../../components/dialog.tsx';
import { ProblemNote } from '../../components/feedback.tsx';
import { Field } from '../../components/field.tsx';
import { QueuePicker } from '../../components/queue-picker.tsx';
import { texts } from '../../texts/texts.ts';
import type { Desk } from './desk.ts';

export type Leaving = 'skip' | 'transfer' | null;

interface Props {
  desk: Desk;
  leaving: Leaving;
  close: () => void;
}

/** Skips or transfers the ticket, with a reason. */
export function LeaveDialog({ desk, leaving, close }: Props) {
  const t = texts.value.desk.leave;
  const title = leaving === 'transfer' ? t.transferTitle : t.skipTitle;
  return (
    <Dialog title={title} open={leaving !== null} onClose={close} actions={false}>
      {leaving && <LeaveForm desk={desk} leaving={leaving} close={close} />}
    </Dialog>
  );
}

function LeaveForm({ desk, leaving, close }: Props & { leaving: NonNullable<Leaving> }) {
  const t = texts.value.desk.leave;
  const isTransfer = leaving === 'transfer';
  const [queue, setQueue] = useState('');
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      await (isTransfer ? desk.transfer(queue, reason.trim()) : desk.skip(reason.trim()));
      close();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form class="desk-leave" onSubmit={(event) => void submit(event)}>
      <p>{isTransfer ? t.transferHint : t.skipHint}</p>
      {isTransfer && <QueuePicker label={t.queue} value={queue} set={setQueue} />}
      <Field label={t.reason}>
        {(field) => (
          <input
            {...field}
            type="text"
            maxLength={2000}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        )}
      </Field>
      {problem && <ProblemNote problem={problem} />}
      <div class="actions">
        <button type="button" onClick={close}>
          {texts.value.common.cancel}
        </button>
        <button type="submit" class="primary">
          {isTransfer ? t.transfer : t.skip}
        </button>
      </div>
    </form>
  );
}
