import type { Context, ServiceConfig } from '../services/shared/service.ts';
import type { Attempts } from './attempts.ts';
import type { Authenticator } from './auth.ts';
import type { Console } from './console.ts';
import type { Metrics } from './metrics.ts';
import type { Transfers } from './transfers.ts';

interface ApiConfig extends ServiceConfig {
  /** Where the Temporal UI is, for links; null: unknown. */
  temporalUiUrl: string | null;
  temporalNamespace: string;
  maxCalls: number;
  /** Open mode listens on loopback and answers only to loopback names. */
  open: boolean;
  /** The URL at which clients reach it; undefined: its listening address. */
  publicUrl: string | undefined;
}

/** Everything that endpoints use. */
export interface Api {
  /** The first argument of service functions. */
  ctx: Context;
  config: ApiConfig;
  auth: Authenticator;
  /** Limits wrong keys at sign-in. */
  attempts: Attempts;
  metrics: Metrics;
  /** Bodies and answers that callers have yet to send and to read. */
  transfers: Transfers;
  console: Console;
  /** Stores that have answered since this process started. */
  reached: { temporal: boolean };
}
