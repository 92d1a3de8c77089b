import { CommanderError } from 'commander';
import { createProgram } from './program.ts';

const MISUSED = 2;

const program = createProgram();
try {
  await program.parseAsync(wanted(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : MISUSED;
}

/** What is to be parsed: `help x` is `x --help`, and nothing at all asks for help. */
function wanted(given: string[]): string[] {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  if (args.length === 0) return ['--help'];
  const name = args.find((arg) => !arg.startsWith('-'));
  const isKnown = name === undefined || program.commands.some((command) => command.name() === name);
  // alone, because with --help the parser shows the help of all and does not name what is wrong
  return isKnown ? args : [name];
}
