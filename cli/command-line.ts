import { type Command, CommanderError } from 'commander';
import { createProgram } from './program.ts';

const MISUSED = 2;

/** Runs a command line; its exit code, where the command has not ended the process. */
export async function runProgram(given: string[]): Promise<number | undefined> {
  const program = createProgram();
  try {
    await program.parseAsync(wanted(program, given), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : MISUSED;
  }
  return undefined;
}

/** The arguments to parse: `help x` is `x --help`, and an empty command line asks for help. */
function wanted(program: Command, given: string[]): string[] {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  if (args.length === 0) return ['--help'];
  const name = args.find((arg) => !arg.startsWith('-'));
  const isKnown = name === undefined || program.commands.some((command) => command.name() === name);
  // alone, because with --help the parser shows the general help and does not name the wrong word
  return isKnown ? args : [name];
}
