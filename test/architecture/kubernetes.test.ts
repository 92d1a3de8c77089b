import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../runtime/config.ts';
import type { Json } from '../support/client.ts';
import { composeText, services } from '../support/compose.ts';
import { builtByGo } from '../support/go.ts';
import { askPython, pythonWith } from '../support/python.ts';

const VERSION = '5.7.1';

const run = (program: string, args: string[]) =>
  execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

/**
 * What a folder's kustomization makes: YAML documents. By kubectl or kustomize where one is installed, else by a kustomize that Go
 * builds, once.
 * @throws Error with what kustomize said
 */
function rendered(folder: string, cacheDir: string): string {
  for (const [program, ...args] of [
    ['kubectl', 'kustomize'],
    ['kustomize', 'build'],
  ] as [string, string][])
    try {
      return run(program, [...args, folder]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  const bin = join(cacheDir, `kustomize-${VERSION}`);
  builtByGo(bin, [`sigs.k8s.io/kustomize/kustomize/v5@v${VERSION}`]);
  return run(join(bin, 'kustomize'), ['build', folder]);
}

const VALIDATOR = ['kubernetes-validate==1.37.0', 'setuptools<81'];
const PROGRAM = fileURLToPath(new URL('kubernetes/validate.py', import.meta.url));
/** The oldest one that the manifests are for, and a newer one. */
const VERSIONS = ['1.31.0', '1.34.0'];

// the secret is the reader's to fill in
const folder = mkdtempSync(join(inject('dir'), 'kubernetes-'));
cpSync('deploy/kubernetes', folder, { recursive: true });
cpSync(join(folder, 'example/secret.env.example'), join(folder, 'example/secret.env'));

const objectsOf = (name: string): Json[] =>
  parseAllDocuments(rendered(join(folder, name), inject('cacheDir'))).map((document) => document.toJSON());
const base = objectsOf('base');
const example = objectsOf('example');
const python = pythonWith(inject('cacheDir'), 'kubernetes', VALIDATOR);
const problemsOf = (objects: Json[]) => askPython<string[]>(python, PROGRAM, { objects, versions: VERSIONS });

const named = (objects: Json[], kind: string, name: string): Json =>
  objects.find((o) => o.kind === kind && o.metadata.name === name);
const isWorkload = (o: Json) => o.kind === 'Deployment' || o.kind === 'Job';

test('every object fits the schemas of Kubernetes', () => {
  expect(base.length).toBeGreaterThan(8);
  expect(problemsOf([...base, ...example])).toEqual([]);
});

test('the control: a field that is misspelt, and one of another type, are found', () => {
  const [deployment] = structuredClone(base.filter((o) => o.kind === 'Deployment'));
  deployment.spec.template.spec.containers[0].readynessProbe = {};
  expect(problemsOf([deployment]).length).toBe(VERSIONS.length);
  const other = structuredClone(named(base, 'Service', 'docket-api'));
  other.spec.ports[0].port = 'http';
  expect(problemsOf([other]).length).toBe(VERSIONS.length);
});

describe.each(Object.entries({ base, example }))('%s', (_name, objects) => {
  const pods: Json[] = objects.filter(isWorkload).map((o) => o.spec.template);

  test('programs are those of docker-compose.yml, from an image of this version', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const containers = pods.flatMap((pod) => pod.spec.containers);
    expect(containers.map((c) => c.name).sort()).toEqual(['api', 'migrate', 'worker']);
    for (const { name, image, args } of containers) {
      expect(args).toEqual(services[name]?.command);
      expect(image).toMatch(new RegExp(`(^|/)docket:${version}$`));
    }
  });

  test('no process has rights that it does not need', () => {
    for (const { spec } of pods) {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({
        ...{ runAsNonRoot: true, runAsUser: 1000 },
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext, resources } of spec.containers) {
        expect(securityContext).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          capabilities: { drop: ['ALL'] },
        });
        expect(resources).toMatchObject({
          requests: { cpu: expect.anything() },
          limits: { memory: expect.anything() },
        });
      }
      expect([spec.hostNetwork, spec.hostPID, spec.hostIPC]).toEqual([undefined, undefined, undefined]);
    }
  });

  test('services, budgets, policies and autoscalers mean pods that there are', () => {
    const selects = (labels: Json) =>
      pods.filter((pod) => Object.entries(labels).every(([k, v]) => pod.metadata.labels[k] === v)).length;
    const selectors = objects.flatMap((o) => {
      const { selector, podSelector } = o.spec ?? {};
      return selector?.matchLabels ?? (o.kind === 'Service' ? selector : podSelector?.matchLabels) ?? [];
    });
    expect(selectors.length).toBeGreaterThan(5);
    for (const labels of selectors)
      if ('app.kubernetes.io/component' in labels) expect(selects(labels), JSON.stringify(labels)).toBe(1);
    for (const { spec } of objects.filter((o) => o.kind === 'HorizontalPodAutoscaler')) {
      const target = named(objects, spec.scaleTargetRef.kind, spec.scaleTargetRef.name);
      // it would be set back at each apply
      expect([target?.kind, target?.spec.replicas]).toEqual(['Deployment', undefined]);
    }
    for (const { metadata } of objects.filter((o) => o.kind === 'Deployment'))
      expect(named(objects, 'PodDisruptionBudget', metadata.name)).toBeDefined();
  });

  test('the settings are ones that Docket reads, by references that lead to them', () => {
    const known = [...readFileSync('runtime/config.ts', 'utf8').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map((m) => m[1]);
    const { data } = objects.find((o) => o.kind === 'ConfigMap');
    for (const name of Object.keys(data)) expect(known).toContain(name);
    for (const pod of pods)
      for (const { name, env = [], envFrom } of pod.spec.containers) {
        const all = { ...data, ...Object.fromEntries(env.map((e: Json) => [e.name, e.value])) };
        const config = readConfig(all);
        expect([config.open, config.beanstalkdPort], name).toEqual([false, undefined]);
        // as the manual says to open one
        const opened = { BEANSTALKD_PORT: '11300', BEANSTALKD_HOST: '0.0.0.0', BEANSTALKD_OPEN: '1' };
        expect(readConfig({ ...all, ...opened }).beanstalkdPort, name).toBe(11300);
        const [settings, secret] = envFrom;
        expect(named(objects, 'ConfigMap', settings.configMapRef.name), name).toBeDefined();
        // the base's is made by whoever installs it
        if (objects === example) expect(named(objects, 'Secret', secret.secretRef.name), name).toBeDefined();
      }
  });

  test('the API is probed where compose probes it, and leaves the service before it ends', () => {
    const [api] = named(objects, 'Deployment', 'docket-api').spec.template.spec.containers;
    expect(composeText).toContain(`${api.livenessProbe.httpGet.path}'`);
    expect([api.startupProbe.httpGet.path, api.readinessProbe.httpGet.path]).toEqual(['/livez', '/readyz']);
    expect(api.ports.map((p: Json) => p.name)).toContain(api.readinessProbe.httpGet.port);
    expect(api.lifecycle.preStop.exec.command[0]).toBe('sleep');
    const { strategy } = named(objects, 'Deployment', 'docket-api').spec;
    expect(strategy.rollingUpdate.maxUnavailable).toBe(0);
  });
});

test('workers are scaled by a metric that the manual has', () => {
  const { metrics } = named(example, 'HorizontalPodAutoscaler', 'docket-worker').spec;
  const { name } = metrics[0].external.metric;
  expect(readFileSync('docs/operations.md', 'utf8')).toContain(`| \`${name}\` |`);
  expect(readFileSync('deploy/kubernetes/README.md', 'utf8')).toContain(`seriesQuery: ${name}`);
});
