import type { Command } from 'commander';
import { type Config, readConfig } from '../runtime/config.ts';
import { type Guide, guide, pathOf } from './help.ts';

export type Run = (config: Config, ...given: never[]) => Promise<void>;

/** A command line that cannot be understood: exit code 2. */
export class Misused extends Error {}

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
