import type { Command } from 'commander';
import { type Config, readConfig } from '../runtime/config.ts';
import { type Guide, guide, pathOf } from './help.ts';
import { Misused } from './misused.ts';

export type Run = (config: Config, ...given: never[]) => Promise<void>;

/**
 * A command that runs `load`'s function with the environment, its arguments and its options. What it throws is printed in a line
 * or few.
 */
export function add(parent: Command, name: string, help: Guide, load: () => Promise<Run>): Command {
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
