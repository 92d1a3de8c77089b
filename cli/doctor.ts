import { Client, Connection } from '@temporalio/client';
import type { Config } from '../runtime/config.ts';
import { Secrets } from '../runtime/secrets.ts';
import { VERSION } from '../runtime/version.ts';
import { findingOf, type Result } from '../services/doctor/checks.ts';
import { diagnose } from '../services/doctor/doctor.ts';
import { withStore } from './database.ts';
import { startedTemporal, temporalFailure, temporalOptions } from './temporal.ts';

/** Checks a live system and prints what is wrong with it. Exit code 1 where something is broken. */
export async function doctorCommand(
  config: Config,
  { repair = false, json = false, deep = false }: Partial<Record<'repair' | 'json' | 'deep', boolean>>,
): Promise<void> {
  const temporal = temporalOptions(config, startedTemporal(config));
  const connection = Connection.lazy(temporal.connection);
  const client = new Client({ connection, namespace: temporal.namespace });
  const secrets = new Secrets(config.secretKeys);
  const failure = (error: unknown) => temporalFailure(error, temporal);
  try {
    await withStore(config, async (db) => {
      const options = { version: VERSION, secrets, deep, repair, temporalFailure: failure };
      const results = await diagnose({ db, client, ...options });
      const findings = results.flatMap((result) => findingOf(result) ?? []);
      const broken = findings.filter(({ severity, count }) => severity === 'broken' && count > 0);
      console.log(
        json
          ? JSON.stringify(findings, null, 2)
          : [...results.flatMap(linesOf), lastLine(broken.length, repair)].join('\n'),
      );
      if (broken.length > 0) process.exitCode = 1;
    });
  } finally {
    await connection.close();
  }
}

const NAME_WIDTH = 20;

/** A result as lines for a person, with advice where something was found. */
function linesOf(result: Result): string[] {
  const { check } = result;
  const finding = findingOf(result);
  const line = (word: string, text: string) => `${word.padEnd(6)} ${check.name.padEnd(NAME_WIDTH)} ${text}`;
  if (!finding) return [line('ok', check.rule)];
  const { severity, count, examples, advice, repaired } = finding;
  if (severity === 'info') return [line('info', examples.join(', '))];
  const more = count > examples.length ? [`… ${count} in all`] : [];
  const below = [
    ...examples,
    ...more,
    ...(repaired ? [`Repaired: ${repaired}`] : []),
    ...(count > 0 || !repaired ? [advice] : []),
  ];
  return [line('found', `${severity}, ${count}; expected: ${check.rule}`), ...below.map((text) => `         ${text}`)];
}

function lastLine(broken: number, repair: boolean): string {
  if (broken === 0) return 'Nothing is broken.';
  const what = `${broken} ${broken === 1 ? 'check has' : 'checks have'} found something broken`;
  return repair ? `${what} that is left.` : `${what}; docket doctor --repair puts right what can be.`;
}
