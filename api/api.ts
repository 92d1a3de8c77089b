import type { Context, ServiceConfig } from '../services/shared/context.ts';
import type { Attempts } from './attempts.ts';
import type { Authenticator } from './auth.ts';
import type { Console } from './console.ts';
import type { Metrics } from './metrics.ts';

interface ApiConfig extends ServiceConfig {
  /** Where the Temporal UI is, for links; null: unknown. */
  temporalUiUrl: string | null;
  temporalNamespace: string;
  maxCalls: number;
  /** Open mode listens on loopback and answers only to loopback names. */
  open: boolean;
  /** Where others reach it; undefined: where it listens. */
  publicUrl: string | undefined;
}

/** What endpoints work with. */
export interface Api {
  /** For service functions. */
  ctx: Context;
  config: ApiConfig;
  auth: Authenticator;
  /** To sign in. */
  attempts: Attempts;
  metrics: Metrics;
  console: Console;
  /** What has answered at least once since this process began. */
  reached: { temporal: boolean };
}
