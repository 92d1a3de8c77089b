import type { Command, Kind } from '../contract/snapshot.ts';
import { kindOf } from '../domain/kinds.ts';

/** The argument that an operator may send along with a signal. */
export type SignalArg = { reason?: unknown; priority?: unknown; by?: unknown } | undefined;

interface OperatorSignal {
  /** For the Temporal UI. */
  description: string;
  /** @returns the command that the argument asks for, or why it is invalid */
  ask(arg: SignalArg): Command | string;
}

type Refusal = Extract<Command, { type: 'refuse' }>;

/** The signals that operators may send to items of a kind, by name. */
export const signalsOf = (kind: Kind): [string, OperatorSignal][] =>
  Object.entries(kindOf(kind).signals).map(([name, command]) => [name, COMMANDS[command]]);

/** The command that records a refused signal. */
export const refusalOf = (signal: string, reason: Refusal['reason'], detail: string, arg: unknown): Refusal => ({
  ...{ type: 'refuse', signal: textOf(signal, '').slice(0, 200), reason, detail },
  by: byOf((arg ?? undefined) as SignalArg),
});

/** The command of a request to cancel the workflow, and of the signals that end an item. */
export const ending = (arg: SignalArg): Command => ({
  type: 'invalidate',
  reason: textOf(arg?.reason, 'by an operator'),
  by: byOf(arg),
});

const COMMANDS: Record<Exclude<Command['type'], 'refuse'>, OperatorSignal> = {
  invalidate: { description: 'Ends the item without an outcome. Argument: {"reason": "…", "by": "…"}', ask: ending },
  kick: {
    description: 'Makes a buried job ready again. Argument: {"by": "…"}',
    ask: (arg) => ({ type: 'kick', by: byOf(arg) }),
  },
  release: {
    description: 'Takes the item from its holder and gives it back. Argument: {"by": "…"}',
    ask: (arg) => ({ type: 'release', by: byOf(arg) }),
  },
  reprioritize: {
    description: 'Changes the priority. Argument: {"priority": -1000 to 1000, "by": "…"}',
    ask: reprioritize,
  },
};

function reprioritize(arg: SignalArg): Command | string {
  const given = arg?.priority;
  const priority = Number(given);
  const detail = `priority must be an integer from -1000 to 1000, not ${textOf(JSON.stringify(given), 'missing').slice(0, 200)}`;
  if (!Number.isInteger(priority) || Math.abs(priority) > 1_000) return detail;
  // Recorded runs took null, true and '' for numbers and made a command of each, so a replay needs a command here, too.
  if (typeof given !== 'number' && !(typeof given === 'string' && given.trim() !== ''))
    return { type: 'refuse', signal: 'reprioritize', reason: 'invalid_argument', detail, by: byOf(arg) };
  return { type: 'reprioritize', priority, by: byOf(arg) };
}

const byOf = (arg: SignalArg) => textOf(arg?.by, 'operator');

/** An operator's text within the database's limits. */
const textOf = (value: unknown, otherwise: string) =>
  String(value ?? otherwise)
    .replaceAll('\0', '')
    .slice(0, 2_000);
