import { PER_DAY, PERSONS, VIOLENT_PER_DAY } from '../kinds/checked.ts';
import {
  acknowledged,
  type Checker,
  countBy,
  grants,
  groupBy,
  isSure,
  itemsOf,
  keyOf,
  linesOf,
  verdict,
} from './checker.ts';

const personOf = (name: string) => PERSONS[name] ?? name;

/** Second looks: those that were asked for are there, and none was handed to a person who had decided before. */
export const looks: Checker = (history) => {
  const lines = linesOf(history);
  const items = itemsOf(history);
  const linesAt = (id: string) => lines.get(keyOf('ticket', id)) ?? [];
  const all = history.items.flatMap(({ id, of }) => (of === null ? [] : [{ id, of }]));
  const byOriginal = groupBy(all, ({ of }) => of);
  const decisions = (of: string, but: string) =>
    [of, ...(byOriginal.get(of) ?? []).map(({ id }) => id)]
      .filter((id) => id !== but)
      .flatMap((id) => linesAt(id).filter(({ type }) => type === 'decided'));
  const grantsOf = all.flatMap(({ id, of }) =>
    linesAt(id)
      .filter(grants)
      .map((line) => ({ ...line, of })),
  );
  const asked = acknowledged(history, 'ticket.look');
  return verdict(
    asked.length + grantsOf.length,
    ...asked.map(({ args, answer, n }) => {
      const look = items.get(keyOf('ticket', answer.id));
      return !look?.of && `look ${answer.id} at ${args.id} was acknowledged (call ${n})`;
    }),
    ...grantsOf.map(({ item_id, of, actor, at }) => {
      const own = decisions(of, item_id).find((line) => personOf(line.actor) === personOf(actor) && line.at < at);
      const sure = own && isSure(history.unsure, at) && isSure(history.unsure, own.at);
      return sure && `look ${item_id} went to ${actor}, who had decided ${own.item_id}`;
    }),
  );
};

/** Tickets that were first handed to each person in a day, until the quotas were lifted. */
export const quotas: Checker = (history) => {
  const { items, ops, began, unsure } = history;
  const lifted = ops.find(({ what, args }) => what === 'reviewer.put' && args.perDay === undefined);
  const until = lifted ? began + lifted.at : Number.POSITIVE_INFINITY;
  const violent = new Set(
    ops.filter(({ what, args }) => what === 'ticket.add' && args.category === 'violent').map(({ args }) => args.id),
  );
  const originals = new Map(items.map(({ id, of }) => [id, of ?? id]));
  const seen = new Set<string>();
  const first = history.events.filter((line) => {
    if (!grants(line) || !(line.actor in PERSONS)) return false;
    const key = `${personOf(line.actor)} ${line.item_id}`;
    return !seen.has(key) && seen.add(key) && line.at < until && isSure(unsure, line.at);
  });
  const dayOf = ({ actor, at }: (typeof first)[number]) =>
    `${personOf(actor)} on ${new Date(at).toISOString().slice(0, 10)}`;
  const over = (lines: typeof first, most: number, of: string) =>
    Object.entries(countBy(lines, dayOf)).map(([day, n]) => n > most && `${day}: ${n} ${of}, not ${most}`);
  return verdict(
    first.length,
    ...over(first, PER_DAY, 'tickets'),
    ...over(
      first.filter(({ item_id }) => violent.has(originals.get(item_id) ?? item_id)),
      VIOLENT_PER_DAY,
      'violent ones',
    ),
  );
};
