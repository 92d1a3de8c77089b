import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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

/** Collects figures; prints each at once and writes all of them into RESULTS.md. */
export class Report {
  readonly #say: (line: string) => void;
  readonly #loadBefore = loadavg()[0] ?? 0;
  readonly #parts: { title: string; note: string; lines: Line[] }[] = [];

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  part(title: string, note: string): void {
    this.#parts.push({ title, note, lines: [] });
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

  get missed(): Line[] {
    return this.#parts.flatMap((p) => p.lines).filter((l) => verdict(l) === 'missed');
  }

  async write(lab: Lab, file: string): Promise<void> {
    const parts = this.#parts.map(({ title, note, lines }) =>
      [
        `## ${title}`,
        '',
        note,
        '',
        '| what | figure | beside | ratio | target |',
        '|---|---|---|---|---|',
        ...lines.map((l) => `| ${cells(l).join(' | ')} |`),
        '',
      ].join('\n'),
    );
    const head = [
      '# Results of `npm run bench`',
      '',
      ...(await machine(lab, this.#loadBefore)).map((l) => `- ${l}`),
      '',
    ];
    writeFileSync(file, `${head.join('\n')}\n${parts.join('\n')}`);
    this.#say(`\nwritten to ${file}`);
  }
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

async function machine(lab: Lab, loadBefore: number): Promise<string[]> {
  const [pg] = await lab.sql<{ version: string; fsync: string; commit: string }>(
    "select current_setting('server_version') as version, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit",
  );
  const info = await lab.client.connection.workflowService.getSystemInfo({});
  const root = fileURLToPath(new URL('..', import.meta.url));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', ':!bench').length > 0 ? ' with changes' : '';
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}${changed}${lab.quick ? ', `--quick`' : ''}`,
    `${cpus().length} cores (${cpus()[0]?.model.trim() || arch()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()}`,
    `Node ${process.versions.node}, PostgreSQL ${pg?.version} (fsync ${pg?.fsync}, synchronous_commit ${pg?.commit}), Temporal server ${info.serverVersion} on SQLite (WAL, synchronous)`,
    `Load average of the minute before the run: ${short(loadBefore)}; near 0 it had the machine to itself, above that other work took part of the cores.`,
    'Servers, Docket’s processes, the rivals and the load share these cores. Rounds alternate; figures are medians of the rounds.',
  ];
}
