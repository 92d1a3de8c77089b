import { moment, number } from '../../components/format.ts';
import { texts } from '../../texts/texts.ts';

interface Props {
  from: string;
  partial: boolean;
  coveredFrom: string;
  /** How many persons are shown, where there may be more. */
  first?: number;
}

/** Above figures that have not counted everything: what they leave out. */
export function Covered({ from, partial, coveredFrom, first }: Props) {
  const t = texts.value.numbers;
  if (!partial) return null;
  const isSince = coveredFrom > from;
  return (
    <p class="note warn" role="note">
      {isSince || first === undefined ? t.since(moment(coveredFrom)) : t.most(number(first))}
    </p>
  );
}
