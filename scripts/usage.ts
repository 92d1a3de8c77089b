import { Command } from 'commander';

const MISUSED = 2;

/**
 * A script's options and help. Where these are asked for or cannot be understood, `parse` ends the process, so nothing else has
 * to be loaded or run before.
 * @param name how it is called: `npm run demo --`
 */
export const script = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .helpOption('-h, --help', 'print this help and do nothing else')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : MISUSED))
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, `${name}:`)) })
    .showHelpAfterError(`Run ${name} --help to see how it is used.`);
