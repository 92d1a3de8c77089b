import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Lab } from './lab.ts';
import { short } from './stats.ts';

export interface Line {
  what: string;
  figure: string;
  /** What it is compared with. */
  rival?: string;
  ratio?: number;
  /** What the target is about, where it isn't the ratio. */
  measured?: { value: number; unit: string };
  target?: { least: number } | { most: number };
}

interface Part {
  title: string;
  note: string;
  loadBefore: number;
  lines: Line[];
}

/** Collects figures; prints each at once and writes all of them into RESULTS.md. */
export class Report {
  readonly #say: (line: string) => void;
  readonly #parts: Part[] = [];

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  part(title: string, note: string): void {
    this.#parts.push({ title, note, loadBefore: loadavg()[0] ?? 0, lines: [] });
    this.#say(`\n${title}`);
  }

  add(line: Line): void {
    this.#parts.at(-1)?.lines.push(line);
    const [what, figure, ...rest] = cells(line);
    this.#say(
      `  ${what?.padEnd(34)} ${figure}${rest
        .filter(Boolean)
        .map((c) => `  |  ${c}`)
        .join('')}`,
    );
  }

  /** Writes the file anew; scenarios that it has and this run has not measured stay as they are. */
  async write(lab: Lab, file: string): Promise<void> {
    const sections = new Map(existsSync(file) ? sectionsOf(readFileSync(file, 'utf8')) : []);
    for (const part of this.#parts) sections.set(Number.parseInt(part.title, 10), section(part, lab.quick));
    const inOrder = [...sections].toSorted(([a], [b]) => a - b);
    const head = ['# Results of `npm run bench`', '', ...(await machine(lab)).map((l) => `- ${l}`), ''];
    writeFileSync(file, `${head.join('\n')}\n${inOrder.map(([, text]) => text).join('\n')}`);
    this.#say(`\nwritten to ${file}`);
  }
}

/** The scenarios of a file that was written before, by their numbers. */
function sectionsOf(text: string): [number: number, section: string][] {
  const [, ...parts] = text.split(/^## /m);
  return parts.map((part) => [Number.parseInt(part, 10), `## ${part.trimEnd()}\n`]);
}

function section({ title, note, loadBefore, lines }: Part, quick: boolean): string {
  const when = `${new Date().toISOString().slice(0, 10)}, ${cores()}, commit ${commit()}${quick ? ', `--quick`' : ''}, load before it ${short(loadBefore)}`;
  const rows = lines.map((l) => `| ${cells(l).join(' | ')} |`);
  const table = ['| what | figure | beside | ratio | target |', '|---|---|---|---|---|', ...rows];
  return [`## ${title}`, '', `*${when}*`, '', note, '', ...table, ''].join('\n');
}

function cells(l: Line): string[] {
  const ratio = l.ratio === undefined ? '' : `${short(l.ratio)}×`;
  const target = !l.target ? '' : 'least' in l.target ? `≥ ${l.target.least}` : `≤ ${l.target.most}`;
  const unit = l.measured ? ` ${l.measured.unit}` : '';
  return [l.what, l.figure, l.rival ?? '', ratio, target && `${target}${unit} ${verdict(l)}`];
}

function verdict({ ratio, measured, target }: Line): 'met' | 'missed' | '' {
  const value = measured?.value ?? ratio;
  if (value === undefined || !target) return '';
  return ('least' in target ? value >= target.least : value <= target.most) ? 'met' : 'missed';
}

/** Scenarios may have been measured on different machines. */
const cores = () => `${cpus().length} cores (${cpus()[0]?.model.trim() || arch()})`;

/** Short, and whether something but the bench has been changed since. */
function commit(): string {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', ':!bench').length > 0 ? ' with changes' : '';
  return git('rev-parse', '--short', 'HEAD') + changed;
}

async function machine(lab: Lab): Promise<string[]> {
  const [pg] = await lab.sql<{ version: string; fsync: string; commit: string }>(
    "select current_setting('server_version') as version, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit",
  );
  const info = await lab.client.connection.workflowService.getSystemInfo({});
  return [
    `${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()}`,
    `Node ${process.versions.node}, PostgreSQL ${pg?.version} (fsync ${pg?.fsync}, synchronous_commit ${pg?.commit}), Temporal server ${info.serverVersion} on SQLite (WAL, synchronous)`,
    'Each scenario says when it was measured, on which processor, with which commit, and the load average of the minute before it: at the first of a run, near 0 means that it had the machine to itself; later ones follow the load of the ones before.',
    'Servers, Docket’s processes, the rivals and the load share these cores. Rounds alternate; figures are medians of the rounds.',
  ];
}
