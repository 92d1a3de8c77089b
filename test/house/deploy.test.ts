import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../runtime/config.ts';
import { FLOW } from '../../scripts/house/rules.ts';

interface Service {
  image: string;
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: object;
}

const read = (path: string) => readFileSync(path, 'utf8');
const text = read('docker-compose.yml');
const { services, volumes } = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
};

test('every image is pinned', () => {
  const images = Object.values(services).map((s) => s.image);
  const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map((m) => m[1] ?? '');
  for (const image of [...images, ...bases]) expect(image).toMatch(/:\d+\.\d+/);
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
  const needed = Object.keys(FLOW).filter((folder) => folder !== 'clients' && existsSync(folder));
  expect(copied.sort()).toEqual(needed.sort());
  for (const folder of copied) expect(read('.dockerignore')).toMatch(new RegExp(`^!${folder}$`, 'm'));
});

test('the API asks for keys, and nothing else can be reached from outside', () => {
  expect(readConfig({ ...services.api?.environment, TEMPORAL_UI_URL: '', LOG_LEVEL: '' }).open).toBe(false);
  for (const [name, { ports = [] }] of Object.entries(services))
    for (const port of ports) if (name !== 'api') expect(port, name).toMatch(/^127\.0\.0\.1:/);
});
