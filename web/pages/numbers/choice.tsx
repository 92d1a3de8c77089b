import { among, Filters, word } from '../../components/form/filters.tsx';
import { texts } from '../../texts/texts.ts';
import { DEFAULTS, KINDS, RANGES, type Range, type Wanted } from './wanted.ts';

interface Props {
  wanted: Wanted;
  /** Queues to choose from; another one may be typed. */
  names: string[];
}

/** What the figures are of. It stands in the address, so that it can be kept and sent to someone. */
export function Choice({ wanted, names }: Props) {
  const t = texts.value.numbers;
  const { kinds } = texts.value.deliveries;
  const ranges = (Object.keys(RANGES) as Range[]).map((one) => [one, t.ranges[one]] as const);
  return (
    <Filters
      key={JSON.stringify(wanted)}
      path="/numbers"
      fields={[
        among(
          'kind',
          texts.value.lists.kind,
          KINDS.map((one) => [one, kinds[one]] as const),
        ),
        among('range', t.range, ranges),
        word('queue', t.queueOf[wanted.kind], { hint: t.all[wanted.kind], suggestions: names }),
      ]}
      given={{ ...wanted }}
      defaults={DEFAULTS}
      atOnce={{ kind: ['range'], range: ['kind', 'queue'] }}
    />
  );
}
