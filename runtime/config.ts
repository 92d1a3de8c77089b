import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { parsePrivateHosts } from '../domain/private-hosts.ts';
import { parseRetention } from '../domain/retention.ts';
import { type Limits, limitsOf } from './limits.ts';
import { parseSecretKeys } from './secrets.ts';
import * as kinds from './setting-kinds.ts';

/** Descriptions are what `--help` shows; defaults that are not constant are said in them. */
const Environment = z.object({
  PORT: kinds.Port.default(3000).describe('port of the API; 0 takes any free one'),
  HOST: z.string().default('127.0.0.1').describe('address on which the API listens'),
  BEANSTALKD_PORT: kinds.Port.optional().describe(
    "port of beanstalkd's protocol, which is off without it; 0 takes any free one",
  ),
  BEANSTALKD_HOST: z.string().default('127.0.0.1').describe("address on which beanstalkd's protocol listens"),
  BEANSTALKD_OPEN: kinds.Switch.default('0').describe(
    '1 permits a BEANSTALKD_HOST other than loopback, without authentication',
  ),
  DELAY_QUEUE_PORT: kinds.Port.optional().describe(
    "port of the Go delay-queue's HTTP API, which is off without it; 0 takes any free one",
  ),
  DELAY_QUEUE_HOST: z.string().default('127.0.0.1').describe("address on which delay-queue's HTTP API listens"),
  DELAY_QUEUE_OPEN: kinds.Switch.default('0').describe(
    '1 permits a DELAY_QUEUE_HOST other than loopback, without authentication',
  ),
  METRICS_PORT: kinds.Port.optional().describe(
    'port for /metrics alone, with those of the Temporal worker where there is one; off without it; 0 takes any free one',
  ),
  METRICS_HOST: z.string().default('127.0.0.1').describe('address on which /metrics listens on that port'),
  DOCKET_PUBLIC_URL: kinds.WebUrl.optional().describe(
    'URL at which others reach this API process (default: where it listens); with DOCKET_OIDC_ISSUER that of browsers',
  ),
  DOCKET_DATA: kinds.Text.default('.docket').describe('data folder of docket start'),
  DOCKET_CACHE: kinds.Text.default(join(homedir(), '.cache', 'docket')).describe(
    'folder for the temporal program, workflow bundles and the built console',
  ),
  DATABASE_URL: z
    .string()
    .refine(kinds.isDatabaseUrl, kinds.DATABASE_URL_FORM)
    .refine(kinds.wantsNoStandby, kinds.SESSION_FORM)
    .optional()
    .describe(
      'PostgreSQL 15 or newer, postgres://user:password@host:5432/database; without it docket start runs its own',
    ),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^(\[[0-9a-f:.]+\]|[^\s/:[\]]+)(:\d{1,5})?$/i, 'must be host:port, without a scheme')
    .optional()
    .describe(
      "Temporal server, host:port; without it docket start runs its own. The TEMPORAL_* variables of Temporal's tools " +
        '(TLS, API key, profile) are read, too, but not for its own',
    ),
  TEMPORAL_NAMESPACE: kinds.Text.default('default').describe('namespace of its workflows'),
  TEMPORAL_PORT: kinds.Port.default(7233).describe("port of docket start's own Temporal; 0 takes any free one"),
  TEMPORAL_UI_PORT: kinds.Port.default(8233).describe("port of docket start's own Temporal UI; 0 takes any free one"),
  TEMPORAL_UI_URL: kinds.WebUrl.optional().describe(
    'URL of the Temporal UI, for links (default: that of its own server)',
  ),
  TEMPORAL_CLI: kinds.Text.optional().describe(
    'path of the temporal program (default: found on the PATH, else downloaded)',
  ),
  DOCKET_ALLOW_PRIVATE_CALLBACKS: z
    .string()
    .default('0')
    .transform(kinds.read(parsePrivateHosts))
    .describe(
      'private places to which callbacks may go: hosts, host:port and networks (hooks.internal,10.1.0.0/16), separated ' +
        'by commas; 1 permits all, loopback too',
    ),
  DOCKET_SIGNAL_NAMESPACES: z
    .string()
    .default('')
    .transform(kinds.listOf)
    .describe('Temporal namespaces whose workflows may receive outcomes as signals, separated by commas'),
  DOCKET_NEXUS_QUEUES: z
    .string()
    .default('')
    .transform(kinds.listOf)
    .describe(
      'queues, courts and topics that Nexus operations of Temporal may use, separated by commas; * permits all; none ' +
        'without it, but all with the Temporal of docket start',
    ),
  DOCKET_KEY: kinds.Text.optional().describe(
    'API key with which docket export, docket outbox and npm run demo call the server',
  ),
  DOCKET_URL: kinds.WebUrl.optional().describe(
    'the server of docket export, docket outbox and npm run demo (default: http://127.0.0.1:PORT)',
  ),
  DOCKET_AUTH: kinds
    .oneOf('open', 'keys')
    .optional()
    .describe('open asks for no key, on loopback only; keys asks for one (default: open on loopback, else keys)'),
  DOCKET_PACEMAKER: kinds.oneOf('on', 'off').default('on').describe('off leaves all timing to the durable timers'),
  DOCKET_AUDIT_SKEW_SECONDS: kinds
    .decimal(0, 86_400)
    .default(300)
    .describe("how far ahead of the database's clock an auditTime may be"),
  DOCKET_MAX_ROTATIONS: kinds.whole(0, 1_000_000).default(100).describe('rotating tasks that an executor may have'),
  DOCKET_RETENTION_DAYS: z
    .string()
    .default('730')
    .transform(kinds.read(parseRetention))
    .describe('days for which what is over is kept: of tasks, or by kind and queue (job=7,ticket/spam=30)'),
  DOCKET_ARCHIVE: kinds.Text.optional().describe('folder into which what is over is written before it is cleared'),
  DOCKET_FULL_TEXT: kinds
    .oneOf('on', 'off')
    .default('off')
    .describe('on keeps the words of bodies of tickets, so that lists find them by text; the same for all processes'),
  DOCKET_IMAGE_HOSTS: z
    .string()
    .default('')
    .transform(kinds.listOf)
    .pipe(z.array(kinds.ImageHost))
    .describe('hosts from which the console may show images, separated by commas'),
  DOCKET_POOL: kinds
    .whole(4, 200)
    .default(20)
    .describe('database connections, per process; a fifth as many again are for lists'),
  DOCKET_OIDC_ISSUER: kinds.Issuer.optional().describe(
    'OpenID Connect provider at which people sign in, as https://login.example.com; needs DOCKET_PUBLIC_URL',
  ),
  DOCKET_OIDC_CLIENT_ID: kinds.Text.optional().describe('of Docket at that provider'),
  DOCKET_OIDC_CLIENT_SECRET: kinds.Text.optional().describe('of Docket at that provider; a public client has none'),
  DOCKET_SECRETS_KEY: z
    .string()
    .transform(kinds.read(parseSecretKeys))
    .optional()
    .describe(
      'seals the secrets of callbacks in the database: 32 bytes in base64; of several, by commas, the first one seals and all open',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: kinds.WebUrl.optional().describe(
    "OpenTelemetry collector to which traces are sent, as http://collector:4318; off without it. The other OTEL_* variables of OpenTelemetry's libraries are read, too",
  ),
  LOG_LEVEL: kinds
    .oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent')
    .default('warn')
    .describe('fatal, error, warn, info, debug or silent; lines on standard error, JSON but of docket start'),
});

/** An environment variable that Docket reads. */
export type Setting = keyof z.input<typeof Environment>;

/** What each setting does, with its default. */
export function settingTexts(): Record<Setting, string> {
  const { properties = {} } = z.toJSONSchema(Environment, { io: 'input', unrepresentable: 'any' });
  const texts = Object.entries(properties).map(([name, schema]) => {
    const { description = '', default: value = '' } = schema as { description?: string; default?: unknown };
    return [name, value === '' ? description : `${description} (default: ${value})`];
  });
  return Object.fromEntries(texts) as Record<Setting, string>;
}

export type Config = ReturnType<typeof readConfig>;

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** Whether a server that listens there can be reached from this machine only. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host);

/**
 * Reads and checks the environment.
 * @param limits instead of those that follow from it
 * @throws Error that names every wrong variable, or what others could reach without a key
 */
export function readConfig(env: NodeJS.ProcessEnv, limits: Partial<Limits> = {}) {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(set);
  if (!parsed.success) throw new Error(messageOf(parsed.error, set));
  const e = parsed.data;
  const open = (e.DOCKET_AUTH ?? (isLoopback(e.HOST) ? 'open' : 'keys')) === 'open';
  checkExposure(e, open);
  return {
    port: e.PORT,
    host: e.HOST,
    beanstalkdPort: e.BEANSTALKD_PORT,
    beanstalkdHost: e.BEANSTALKD_HOST,
    delayQueuePort: e.DELAY_QUEUE_PORT,
    delayQueueHost: e.DELAY_QUEUE_HOST,
    metricsPort: e.METRICS_PORT,
    metricsHost: e.METRICS_HOST,
    publicUrl: e.DOCKET_PUBLIC_URL,
    dataDir: resolve(e.DOCKET_DATA),
    cacheDir: resolve(e.DOCKET_CACHE),
    databaseUrl: e.DATABASE_URL,
    temporalAddress: e.TEMPORAL_ADDRESS,
    temporalNamespace: e.TEMPORAL_NAMESPACE,
    temporalPort: e.TEMPORAL_PORT,
    temporalUiPort: e.TEMPORAL_UI_PORT,
    temporalUiUrl: e.TEMPORAL_UI_URL,
    temporalCli: e.TEMPORAL_CLI,
    privateCallbacks: e.DOCKET_ALLOW_PRIVATE_CALLBACKS,
    signalNamespaces: e.DOCKET_SIGNAL_NAMESPACES,
    nexusQueues: e.DOCKET_NEXUS_QUEUES,
    key: e.DOCKET_KEY,
    docketUrl: e.DOCKET_URL,
    /** No keys asked for; on loopback only. */
    open,
    pacemaker: e.DOCKET_PACEMAKER === 'on',
    auditSkewSeconds: e.DOCKET_AUDIT_SKEW_SECONDS,
    maxRotations: e.DOCKET_MAX_ROTATIONS,
    retention: e.DOCKET_RETENTION_DAYS,
    archive: e.DOCKET_ARCHIVE,
    fullText: e.DOCKET_FULL_TEXT === 'on',
    imageHosts: e.DOCKET_IMAGE_HOSTS,
    poolSize: e.DOCKET_POOL,
    secretKeys: e.DOCKET_SECRETS_KEY,
    /** undefined: people sign in with keys only. */
    openId: openIdOf(e),
    otlpEndpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT,
    logLevel: e.LOG_LEVEL,
    ...limitsOf(placeOf(e.TEMPORAL_ADDRESS)),
    ...limits,
  };
}

/** Where Temporal runs, by its address. */
const placeOf = (address: string | undefined) =>
  address === undefined ? 'own' : isLoopback(address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) ? 'beside' : 'apart';

/** @throws Error where something of it is missing */
function openIdOf(e: z.output<typeof Environment>) {
  const { DOCKET_OIDC_ISSUER: issuer, DOCKET_OIDC_CLIENT_ID: clientId, DOCKET_PUBLIC_URL: publicUrl } = e;
  if (issuer === undefined) return undefined;
  if (clientId === undefined || publicUrl === undefined)
    throw new Error('DOCKET_OIDC_ISSUER needs DOCKET_OIDC_CLIENT_ID, and DOCKET_PUBLIC_URL to come back to');
  const redirectUri = `${publicUrl.replace(/\/$/, '')}/sign-in/openid/callback`;
  return { issuer, clientId, clientSecret: e.DOCKET_OIDC_CLIENT_SECRET, redirectUri };
}

/** Their values may hold a password or are one, so no message shows them. */
const SECRET = /URL|KEY|SECRET/;
const SHOWN = 100;

/** A line for each wrong variable. */
function messageOf({ issues }: z.ZodError, set: Record<string, string | undefined>): string {
  const lines = issues.map(({ path: [name = ''], message }) => {
    const value = SECRET.test(String(name)) ? '' : `, not ${JSON.stringify(set[String(name)]).slice(0, SHOWN)}`;
    return `${String(name)} ${message}${value}`;
  });
  return [...new Set(lines)].join('\n');
}

/** @throws Error where other machines could do anything without a key, and no one has said that they may */
function checkExposure(e: z.output<typeof Environment>, open: boolean): void {
  if (open && !isLoopback(e.HOST))
    throw new Error(
      `DOCKET_AUTH=open is for 127.0.0.1 only: a server that listens elsewhere (HOST=${e.HOST}) asks for keys. ` +
        'Leave DOCKET_AUTH out, or leave HOST at 127.0.0.1',
    );
  const protocols = [
    ['BEANSTALKD', "beanstalkd's protocol"],
    ['DELAY_QUEUE', "delay-queue's API"],
  ] as const;
  for (const [name, what] of protocols) {
    const host = e[`${name}_HOST`];
    if (e[`${name}_PORT`] !== undefined && !isLoopback(host) && e[`${name}_OPEN`] !== '1')
      throw new Error(
        `${name}_HOST=${host}: ${what} has no authentication, so whoever reaches the port may do anything with jobs. ` +
          `Set ${name}_OPEN=1 if you trust that network, or leave ${name}_HOST at 127.0.0.1`,
      );
  }
}
