import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const Port = z.coerce.number().int().min(0).max(65_535);
const OnOff = z.enum(['on', 'off']);

/** As it stands in a Content-Security-Policy, where anything else could say something of its own. */
const ImageHost = z
  .string()
  .regex(
    /^(https?:\/\/)?(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?$/i,
    'must be hosts, separated by commas: images.example.com, https://*.example.com',
  );

const Environment = z.object({
  PORT: Port.default(3000),
  HOST: z.string().default('127.0.0.1'),
  BEANSTALKD_PORT: Port.optional(),
  BEANSTALKD_HOST: z.string().default('127.0.0.1'),
  BEANSTALKD_OPEN: z.enum(['0', '1']).default('0'),
  DOCKET_PUBLIC_URL: z.url().optional(),
  DOCKET_DATA: z.string().min(1).default('.docket'),
  DOCKET_CACHE: z
    .string()
    .min(1)
    .default(join(homedir(), '.cache', 'docket')),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  TEMPORAL_ADDRESS: z.string().min(1).optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_PORT: Port.default(7233),
  TEMPORAL_UI_PORT: Port.default(8233),
  TEMPORAL_UI_URL: z.url().optional(),
  TEMPORAL_CLI: z.string().min(1).optional(),
  DOCKET_TEMPORAL_MAX_ID_BYTES: z.coerce.number().int().min(255).max(100_000).default(1000),
  DOCKET_ALLOW_PRIVATE_CALLBACKS: z.enum(['0', '1']).default('0'),
  DOCKET_KEY: z.string().min(1).optional(),
  DOCKET_AUTH: z.enum(['open', 'keys']).optional(),
  DOCKET_PACEMAKER: OnOff.default('on'),
  DOCKET_PUBLISH_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(16),
  DOCKET_PUBLISH_IDLE_PER_SECOND: z.coerce.number().min(0.1).max(10_000).default(50),
  DOCKET_PUBLISH_BUSY_PER_SECOND: z.coerce.number().min(0.1).max(10_000).default(10),
  DOCKET_WAITING_WORKFLOWS: z.coerce.number().int().min(0).optional(),
  DOCKET_SKIP_ENDED_SECONDS: z.coerce.number().min(0).default(3_600),
  DOCKET_AUDIT_SKEW_SECONDS: z.coerce.number().min(0).max(86_400).default(300),
  DOCKET_MAX_ROTATIONS: z.coerce.number().int().min(0).max(1_000_000).default(100),
  DOCKET_RETENTION_DAYS: z.coerce.number().min(1).max(36_500).default(730),
  DOCKET_MAX_CALLS: z.coerce.number().int().min(1).default(5000),
  DOCKET_IMAGE_HOSTS: z
    .string()
    .default('')
    .transform((hosts) => hosts.split(',').map((host) => host.trim()))
    .transform((hosts) => hosts.filter((host) => host !== ''))
    .pipe(z.array(ImageHost)),
  DOCKET_POOL: z.coerce.number().int().min(4).max(200).default(20),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('warn'),
});

export type Config = ReturnType<typeof readConfig>;

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * Reads and checks the environment.
 * @throws Error that names every wrong variable, or what others could reach without a key
 */
export function readConfig(env: NodeJS.ProcessEnv) {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(set);
  if (!parsed.success) throw new Error(parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('\n'));
  const e = parsed.data;
  const loopback = LOOPBACK.has(e.HOST);
  const open = (e.DOCKET_AUTH ?? (loopback ? 'open' : 'keys')) === 'open';
  if (open && !loopback)
    throw new Error('DOCKET_AUTH=open is for 127.0.0.1 only: a server that listens elsewhere asks for keys');
  if (e.BEANSTALKD_PORT !== undefined && !LOOPBACK.has(e.BEANSTALKD_HOST) && e.BEANSTALKD_OPEN !== '1')
    throw new Error(
      `BEANSTALKD_HOST=${e.BEANSTALKD_HOST}: beanstalkd's protocol has no authentication, so whoever reaches the port may ` +
        'do anything with jobs. Set BEANSTALKD_OPEN=1 if you trust that network, or leave BEANSTALKD_HOST at 127.0.0.1',
    );
  return {
    port: e.PORT,
    host: e.HOST,
    /** Of beanstalkd's protocol; undefined: it is not spoken. */
    beanstalkdPort: e.BEANSTALKD_PORT,
    beanstalkdHost: e.BEANSTALKD_HOST,
    /** Where other machines reach this one; undefined: where it listens. */
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
    /** `limit.maxIDLength` of the Temporal server. */
    temporalMaxIdBytes: e.DOCKET_TEMPORAL_MAX_ID_BYTES,
    allowPrivateCallbacks: e.DOCKET_ALLOW_PRIVATE_CALLBACKS === '1',
    /** With which commands call a server. */
    key: e.DOCKET_KEY,
    /** No keys asked for; on loopback only. */
    open,
    pacemaker: e.DOCKET_PACEMAKER === 'on',
    publishConcurrency: e.DOCKET_PUBLISH_CONCURRENCY,
    publishIdlePerSecond: e.DOCKET_PUBLISH_IDLE_PER_SECOND,
    publishBusyPerSecond: e.DOCKET_PUBLISH_BUSY_PER_SECOND,
    /** Of items that only wait, so many have a workflow at most: a server of our own keeps 17 KB each in SQLite. */
    waitingWorkflows: e.DOCKET_WAITING_WORKFLOWS ?? (e.TEMPORAL_ADDRESS ? Number.MAX_SAFE_INTEGER : 50_000),
    /** What ended longer ago than this before its workflow was started gets none. */
    skipEndedSeconds: e.DOCKET_SKIP_ENDED_SECONDS,
    auditSkewSeconds: e.DOCKET_AUDIT_SKEW_SECONDS,
    /** Rotating tasks that an executor may have. */
    maxRotations: e.DOCKET_MAX_ROTATIONS,
    /** How long what has ended of tasks is kept. */
    retentionDays: e.DOCKET_RETENTION_DAYS,
    maxCalls: e.DOCKET_MAX_CALLS,
    /** From which the console may show images, beside this server. */
    imageHosts: e.DOCKET_IMAGE_HOSTS,
    poolSize: e.DOCKET_POOL,
    logLevel: e.LOG_LEVEL,
  };
}
