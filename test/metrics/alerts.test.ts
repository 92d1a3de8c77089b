import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { needDebian } from '../support/debian.ts';
import { ALERTS, alerts, board } from '../support/metrics.ts';

needDebian('prometheus');
const folder = mkdtempSync(join(inject('dir'), 'rules-'));

const RUNBOOK = 'docs/runbook.md';
const runbook = readFileSync(RUNBOOK, 'utf8');

/** What promtool says; it throws where something is wrong. */
const promtool = (...args: string[]) => execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' });

/** Rules of these expressions, which promtool parses. */
function check(exprs: string[]): string {
  const rules = exprs.map((expr, n) => ({ record: `panel:${n}`, expr }));
  const file = join(folder, 'rules.yml');
  // JSON is YAML
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules }] }));
  return promtool('check', 'rules', file);
}

test('promtool takes the rules', () => {
  expect(promtool('check', 'rules', ALERTS)).toContain(`SUCCESS: ${alerts().length} rules found`);
});

test('promtool takes the pattern of the configuration, which names the rules', () => {
  expect(promtool('check', 'config', 'deploy/prometheus/prometheus.yml')).toContain('SUCCESS');
});

test('the rules fire when they should, and only then', () => {
  expect(promtool('test', 'rules', 'test/metrics/alerts.yml')).toContain('SUCCESS');
  const tried = readFileSync('test/metrics/alerts.yml', 'utf8');
  for (const { alert } of alerts()) expect(tried).toContain(`alertname: ${alert}\n        exp_alerts:`);
});

test('each alert has an entry in the runbook, to which it leads, and each entry an alert', () => {
  const entries = [...runbook.matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
  expect(entries).toEqual(alerts().map(({ alert }) => alert));
  for (const { alert, annotations } of alerts())
    expect(annotations.runbook_url).toBe(`${RUNBOOK}#${alert.toLowerCase()}`);
  for (const entry of runbook.split(/^## /m).slice(1))
    for (const part of ['**Means:**', '**Look at:**', '**Do:**']) expect(entry).toContain(part);
});

test('calls, settings, checks and parts of documents that the runbook names are there', () => {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { paths: Record<string, object> };
  const shapes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '<>')}`),
  );
  const calls = [...runbook.matchAll(/`(GET|POST|PUT) (\/[^\s?`]+)/g)];
  expect(calls.length).toBeGreaterThan(8);
  for (const [, method, path = ''] of calls) expect(shapes).toContain(`${method} ${path.replaceAll(/<\w+>/g, '<>')}`);
  const settings = readFileSync('runtime/config.ts', 'utf8');
  for (const [name] of runbook.matchAll(/\b(DOCKET|METRICS)_[A-Z_]+\b/g)) expect(settings).toContain(`  ${name}: `);
  for (const [, page = '', part = ''] of runbook.matchAll(/\]\((?!#)([\w.]+)#([\w-]+)\)/g)) {
    expect(existsSync(join('docs', page)), page).toBe(true);
    const parts = [...readFileSync(join('docs', page), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(parts).toContain(part);
  }
});

test('each panel of the board has queries that promtool parses, and variables that are there', () => {
  const { panels, templating } = board();
  const drawn = panels.filter(({ type }) => type !== 'row');
  for (const { title, targets = [] } of drawn) expect(targets.length, title).toBeGreaterThan(0);
  const exprs = drawn.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const variables = new Set(templating.list.map(({ name }) => name));
  for (const [, name = ''] of exprs.join('\n').matchAll(/\$(\w+)/g))
    expect(name === '__rate_interval' || variables.has(name), name).toBe(true);
  const filled = exprs.map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*'));
  expect(check(filled)).toContain(`SUCCESS: ${filled.length} rules found`);
  expect(() => check([`${filled[0]})`])).toThrow();
});
