import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DELIVERY_SLOTS } from '../../activities/hosts.ts';
import { readConfig } from '../../runtime/config.ts';
import { FLOW } from '../../scripts/architecture/imports.ts';
import { composeText, environmentOf, services, volumes } from '../support/compose.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const text = composeText;

test('every image is pinned', () => {
  const images = Object.values(services).map((s) => s.image);
  const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map((m) => m[1] ?? '');
  for (const image of [...images, ...bases]) expect(image).toMatch(/:\d+\.\d+/);
});

test('the image that compose builds has the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  for (const name of ['migrate', 'api', 'worker']) expect(services[name]?.image).toBe(`docket:${version}`);
});

test('every secret comes from .env, which has no default for it', () => {
  const secrets = [...text.matchAll(/\$\{(\w*PASSWORD)([^}]*)\}/g)];
  expect(secrets.length).toBeGreaterThan(3);
  for (const [, name = '', rest = ''] of secrets) {
    expect(rest, name).toMatch(/^:\?/);
    expect(read('.env.example')).toMatch(new RegExp(`^${name}=$`, 'm'));
  }
  expect(text).not.toMatch(/(PASSWORD|PWD): ['"]?[^$\s]/);
});

/** Their images write beside their volumes at the start. */
const WRITING = ['temporal', 'temporal-ui', 'temporal-schema', 'temporal-namespace'];

test('no container has rights that it does not need', () => {
  for (const [name, service] of Object.entries(services)) {
    expect(service.cap_drop, name).toEqual(['ALL']);
    expect(service.security_opt, name).toEqual(['no-new-privileges:true']);
    expect([service.privileged, service.network_mode], name).toEqual([undefined, undefined]);
    expect(service.read_only ?? false, name).toBe(!WRITING.includes(name));
    expect(service.cap_add !== undefined, name).toBe(name === 'postgres');
  }
  // an image that runs as root would have it in the container too
  const [last = ''] = read('Dockerfile')
    .split(/^FROM /m)
    .slice(-1);
  expect(last).toMatch(/^USER node$/m);
});

test('services wait for what they need: for health where there is a check, else for its end', () => {
  for (const [name, { depends_on = {} }] of Object.entries(services))
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const wanted = services[other]?.healthcheck ? 'service_healthy' : 'service_completed_successfully';
      expect(condition, `${name} waits for ${other}`).toBe(wanted);
    }
});

test('mounted files and volumes exist', () => {
  for (const { volumes: mounts = [] } of Object.values(services))
    for (const [source = ''] of mounts.map((m) => m.split(':')))
      expect(source.startsWith('.') ? existsSync(source) : source in volumes, source).toBe(true);
});

test('every folder that runs on a server is copied into the image', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (\w+) \1$/gm)].map((m) => m[1] ?? '');
  const ofCallers = ['clients', 'examples'];
  const needed = Object.keys(FLOW).filter((folder) => !ofCallers.includes(folder) && existsSync(folder));
  expect(copied.sort()).toEqual(needed.sort());
  for (const folder of copied) expect(read('.dockerignore')).toMatch(new RegExp(`^!${folder}$`, 'm'));
});

/** Settings of the servers that `npm start` runs itself. */
const NPM_START = ['DOCKET_DATA', 'DOCKET_CACHE', 'TEMPORAL_CLI', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'];
/** DOCKET_URL and DOCKET_KEY are for commands; a server that listens on all addresses always asks for keys. */
const OTHERS = [...NPM_START, 'DOCKET_URL', 'DOCKET_KEY', 'DOCKET_AUTH'];
/** Read by OpenTelemetry's libraries themselves. */
const TRACES = ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'];
const OF_LIBRARIES = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_SERVICE_NAME', ...TRACES];
const LISTENING = [
  ...['HOST', 'PORT', 'BEANSTALKD_HOST', 'BEANSTALKD_PORT', 'BEANSTALKD_OPEN'],
  ...['DELAY_QUEUE_HOST', 'DELAY_QUEUE_PORT', 'DELAY_QUEUE_OPEN'],
];

test('every setting of runtime/config.ts reaches the API and the worker, and no other', () => {
  const settings = [...read('runtime/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map((m) => m[1] ?? '');
  const wanted = [...settings.filter((name) => !OTHERS.includes(name)), ...OF_LIBRARIES];
  expect(Object.keys(services.api?.environment ?? {}).sort()).toEqual(wanted.sort());
  const unlistening = wanted.filter((name) => !LISTENING.includes(name));
  expect(Object.keys(services.worker?.environment ?? {}).sort()).toEqual(unlistening.sort());
});

test('settings that .env leaves out have their defaults, and .env.example names each with its default', () => {
  const { DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_UI_URL, METRICS_HOST, ...env } = environmentOf(services.worker);
  expect(readConfig(env)).toEqual(readConfig({}));
  const lines = read('.env.example').matchAll(/^#?(\w+)=(.*)$/gm);
  const example = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
  const used = [...text.matchAll(/\$\{(\w+)/g)].map((m) => m[1] ?? '');
  expect(Object.keys(example).sort()).toEqual([...new Set(used)].sort());
  // those that have none
  for (const name of ['BEANSTALKD_PORT', 'DELAY_QUEUE_PORT', 'METRICS_PORT']) delete example[name];
  for (const name of ['TEMPORAL_UI_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'DOCKET_PUBLIC_URL']) delete example[name];
  expect(readConfig(example)).toEqual(readConfig({}));
});

test('the API asks for keys, and every port is published to this host only', () => {
  const config = readConfig(environmentOf(services.api));
  expect(config.open).toBe(false);
  expect([config.beanstalkdPort, config.delayQueuePort]).toEqual([undefined, undefined]);
  for (const [name, { ports = [] }] of Object.entries(services))
    for (const port of ports) expect(port, name).toMatch(/^(127\.0\.0\.1|\$\{DOCKET_BIND:-127\.0\.0\.1\}):/);
});

test('S0.10 workers have a thread for each name of a receiver that is looked up at once, and some to spare', () => {
  for (const path of ['Dockerfile', 'deploy/systemd/docket-worker.service']) {
    const [, threads] = /^(?:ENV |Environment=)UV_THREADPOOL_SIZE=(\d+)$/m.exec(read(path)) ?? [];
    expect(Number(threads), path).toBeGreaterThan(DELIVERY_SLOTS);
  }
});
