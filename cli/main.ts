import { CommanderError } from 'commander';
import { createProgram } from './program.ts';

const MISUSED = 2;
/** As of a program that ends by SIGPIPE, which Node.js ignores. */
const READER_LEFT = 141;

// the reader of a pipe may leave first: docket --help | head
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? READER_LEFT : 1));

const program = createProgram();
try {
  await program.parseAsync(wanted(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : MISUSED;
}

/** The arguments to parse: `help x` is `x --help`, and an empty command line asks for help. */
function wanted(given: string[]): string[] {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  if (args.length === 0) return ['--help'];
  const name = args.find((arg) => !arg.startsWith('-'));
  const isKnown = name === undefined || program.commands.some((command) => command.name() === name);
  // alone, because with --help the parser shows the general help and does not name the wrong word
  return isKnown ? args : [name];
}
