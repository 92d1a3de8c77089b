import type { Command } from 'commander';
import { type Config, readConfig, type Setting, settingTexts } from '../runtime/config.ts';

export type Run = (config: Config, ...given: never[]) => Promise<void>;

/** A command line that cannot be understood: exit code 2. */
export class Misused extends Error {}

/** Fires when the process is asked to stop, which it does itself then. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

/** The running server that a command calls, and the setting that names it. */
export const serverOf = ({ docketUrl, port }: Config) => ({
  url: (docketUrl ?? `http://127.0.0.1:${port}`).replace(/\/+$/, ''),
  setting: docketUrl === undefined ? 'PORT' : 'DOCKET_URL',
});

/** Adds a command that runs a function with the environment, arguments and options. Errors are printed in a few lines. */
export function add(parent: Command, name: string, load: () => Promise<Run>, help: Guide): Command {
  const command = guide(parent.command(name), help);
  return command.action(async (...given: unknown[]) => {
    try {
      const config = readConfig(process.env);
      const run = (await load()) as (config: Config, ...given: unknown[]) => Promise<void>;
      // the last one is the command
      await run(config, ...given.slice(0, -1));
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof Misused) command.error(`error: ${message}`, { exitCode: 2 });
      console.error(`${pathOf(command)}: ${message || String(error)}`);
      if (process.env.LOG_LEVEL === 'debug') console.error(error);
      process.exit(1);
    }
  });
}

const WIDTH = 80;

/** The help of a command, besides its options. */
export interface Guide {
  /** A few words, for the list of all commands. */
  summary: string;
  /** The lines of a paragraph are joined. */
  description: string;
  reads?: readonly Setting[];
  examples: readonly (readonly [line: string, does: string])[];
}

/** The command line that leads to a command: `docket key create`. */
const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** Gives a command its help, and errors that begin with its own name. */
export function guide(command: Command, { summary, description, reads = [], examples }: Guide): Command {
  const path = pathOf(command);
  return command
    .summary(summary)
    .description(description.replaceAll(/(?<!\n)\n(?!\n)/g, ' '))
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, `${path}:`)) })
    .showHelpAfterError(`Run ${path} --help to see how it is used.`)
    .addHelpText('after', () => `\n${environment(command, reads)}Examples:\n${examples.map(example).join('\n')}`);
}

function environment(command: Command, reads: readonly Setting[]): string {
  if (reads.length === 0) return '';
  const texts = settingTexts();
  const help = command.createHelp();
  help.prepareContext({ helpWidth: process.stdout.columns || WIDTH });
  const width = Math.max(...reads.map((name) => name.length));
  const lines = reads.map((name) => help.formatItem(name, width, texts[name], help));
  return `Environment:\n${lines.join('\n')}\n\n`;
}

const example = ([line, does]: readonly [string, string]) => `  # ${does}\n  ${line}`;
