import { texts } from '../texts/texts.ts';
import { ConfirmButton } from './confirm.tsx';
import { toast } from './toasts.tsx';

interface Props {
  name: string;
  /** What it means. */
  hint: string;
  run: () => Promise<unknown>;
  /** Once it is deleted. */
  then: () => void;
  /** Several on the page have such a button. */
  isOneOfMany?: boolean;
}

/** A button that deletes something for good, after a question. */
export function DeleteButton({ name, hint, run, then, isOneOfMany = false }: Props) {
  const t = texts.value.settings;
  const remove = async () => {
    await run();
    toast(t.deleted(name));
    then();
  };
  return (
    <ConfirmButton
      danger
      label={t.delete}
      title={t.deleteTitle(name)}
      run={remove}
      {...(isOneOfMany && { about: name })}
    >
      <p>{hint}</p>
    </ConfirmButton>
  );
}
