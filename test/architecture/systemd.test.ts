import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { services } from '../support/compose.ts';
import { needDebian } from '../support/debian.ts';

needDebian('systemd');

const SOURCE = 'deploy/systemd';
const UNITS = ['docket-api.service', 'docket-migrate.service', 'docket-worker.service'];
/** From 0 to 10, as systemd counts what a service that was broken into could do; units without any care are near 9.6. */
const MOST_EXPOSED = 2;

const folder = mkdtempSync(join(inject('dir'), 'systemd-'));
const read = (unit: string) => readFileSync(join(SOURCE, unit), 'utf8');
// Node.js is where it is on this machine
for (const unit of UNITS) writeFileSync(join(folder, unit), read(unit).replaceAll('/usr/bin/node', process.execPath));

test('systemd understands the units, all of each', () => {
  expect(readdirSync(SOURCE).filter((file) => file.endsWith('.service'))).toEqual(UNITS);
  const units = UNITS.map((unit) => join(folder, unit));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
    encoding: 'utf8',
  });
  // of units of the machine it has its own to say
  const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('docket'));
  expect([status, ours]).toEqual([0, []]);
});

test('the control: a line that systemd does not know is found', () => {
  const unit = join(folder, 'docket-wrong.service');
  writeFileSync(unit, `${readFileSync(join(folder, UNITS[0] ?? ''), 'utf8')}\n[Service]\nNoSuchThing=yes\n`);
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  expect(stderr).toContain('NoSuchThing');
});

test.each(UNITS)('%s may do little beside its work', (unit) => {
  const args = ['security', '--offline=true', '--no-pager', `--threshold=${MOST_EXPOSED * 10}`, join(folder, unit)];
  const said = execFileSync('systemd-analyze', args, { encoding: 'utf8' });
  expect(said).toMatch(/Overall exposure level/);
});

test('the programs are those of docker-compose.yml, and stop like them', () => {
  for (const unit of UNITS) {
    const [name = ''] = unit.slice('docket-'.length).split('.');
    const [, program, command] = services[name]?.command ?? [];
    expect(read(unit)).toContain(`ExecStart=/usr/bin/node /opt/docket/${program} ${command}\n`);
  }
});

test('the example of its settings is one that API and worker start with', () => {
  const lines = read('docket.env.example').matchAll(/^#?([A-Z_]+)=(.*)$/gm);
  const env = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
  expect(readConfig(env)).toMatchObject({ open: false, temporalAddress: '127.0.0.1:7233' });
});
