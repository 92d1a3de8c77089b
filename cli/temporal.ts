import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import type { Config } from '../runtime/config.ts';

/** The SDK's. */
const DEFAULT_ADDRESS = 'localhost:7233';
/** The server's messages for a missing or insufficient authorisation. */
const REJECTED = /unauthenticated|unauthorized|permission.?denied/i;
const NO_NAMESPACE = /namespace \S+ is not found/i;

/**
 * `TEMPORAL_*` as every Temporal program reads it; for Docket's own server only the namespace: it has no TLS and no keys,
 * and these settings may be those of the machine's other programs.
 * @param known an address that takes precedence
 * @throws Error where these settings cannot be read
 */
export function temporalOptions(
  config: Pick<Config, 'temporalNamespace' | 'temporalAddress'>,
  known: string | undefined,
): { connection: ClientConnectConfig['connectionOptions'] & { address: string }; namespace: string } {
  if (known !== undefined && config.temporalAddress === undefined)
    return { connection: { address: known }, namespace: config.temporalNamespace };
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig();
    const address = known ?? connectionOptions.address ?? DEFAULT_ADDRESS;
    return { connection: { ...connectionOptions, address }, namespace: namespace ?? config.temporalNamespace };
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`TEMPORAL_*: these settings cannot be read: ${why}; correct them`, { cause: error });
  }
}

type TemporalOptions = ReturnType<typeof temporalOptions>;

const addressFile = (dataDir: string) => join(dataDir, 'temporal.address');

/** Writes the address of a running system's Temporal into its data folder, for commands. */
export const leaveAddress = (dataDir: string, address: string): void =>
  writeFileSync(addressFile(dataDir), `${address}\n`);

/** The Temporal of the data folder's system, unless a setting names another store; undefined: as the settings say. */
export function startedTemporal({ temporalAddress, databaseUrl, dataDir }: Config): string | undefined {
  const file = addressFile(dataDir);
  if (temporalAddress || databaseUrl || !existsSync(file)) return temporalAddress;
  return readFileSync(file, 'utf8').trim() || undefined;
}

export const isWithoutNamespace = (error: unknown): boolean => NO_NAMESPACE.test((error as Error).message);

/** Why Temporal cannot be used, in a line for the terminal that names the setting. */
export function temporalFailure(error: unknown, { connection: { address }, namespace }: TemporalOptions): Error {
  const say = (text: string) => new Error(text, { cause: error });
  const why = reasonOf(error);
  if (isWithoutNamespace(error))
    return say(
      `TEMPORAL_NAMESPACE: Temporal at ${address} has no namespace ${namespace}; create it ` +
        `(temporal operator namespace create --namespace ${namespace}), or correct TEMPORAL_NAMESPACE`,
    );
  if (REJECTED.test(why))
    return say(`TEMPORAL_API_KEY, TEMPORAL_TLS_*: Temporal at ${address} rejects this process (${why}); correct them`);
  return say(`TEMPORAL_ADDRESS: cannot reach Temporal at ${address} (${why}); start it, or correct TEMPORAL_ADDRESS`);
}

/** The message of the innermost cause, or of a gRPC status. */
function reasonOf(error: unknown): string {
  const { message = String(error), details, cause } = error as Error & { details?: string };
  if (cause instanceof Error) return reasonOf(cause);
  if (/connection refused|ECONNREFUSED/i.test(message)) return 'connection refused';
  const said = /message: "([^"]*)"/.exec(message)?.[1];
  return said || details || (message.split('\n')[0] ?? '');
}
