import { runProgram } from './command-line.ts';

/** As of a program that ends by SIGPIPE, which Node.js ignores. */
const READER_LEFT = 141;

// the reader of a pipe may leave first: docket --help | head
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? READER_LEFT : 1));

process.exitCode = (await runProgram(process.argv.slice(2))) ?? process.exitCode;
