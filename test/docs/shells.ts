import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pasted } from './expectations.ts';

const BLOCK_MS = 180_000;
const ENDED_MS = 5_000;

export interface Place {
  cwd: string;
  env: Record<string, string>;
}

/** A shell in which text is pasted as a reader would. */
export interface Shell {
  /** Pastes a block and waits until the shell takes the next line. @throws Error when it does not, with the output */
  paste(text: string): Promise<Pasted>;
  /** Pastes what is to be left running; the output so far is in `seen`. */
  leave(text: string): void;
  seen(): Pasted;
  close(): Promise<void>;
}

export const SHELLS: Record<'bash' | 'zsh', (place: Place) => Promise<Shell>> = { bash: openBash, zsh: openZsh };

/** The output of a shell, between the marks that it prints after each block, and after each command that fails. */
class Output {
  readonly mark = `@${randomUUID()}`;
  readonly #read: () => string;
  #from = 0;

  constructor(read: () => string) {
    this.#read = read;
  }

  /** What came since the last block, and how it ended: `end`, or `cont` where the shell wants more. */
  since(): Pasted & { end: string | undefined } {
    const text = this.#read().slice(this.#from);
    const marks = [...text.matchAll(new RegExp(`\\n?${this.mark} (\\w+) ?(\\d*)\\n`, 'g'))];
    const end = marks.find(([, word]) => word !== 'failed');
    const upTo = end ? end.index : text.length;
    const failed = marks.filter(({ index, 1: word }) => word === 'failed' && index < upTo);
    const output = marks.reduce((rest, [mark]) => rest.replace(mark, '\n'), text.slice(0, upTo));
    return { output, failures: failed.map(([, , code]) => Number(code)), end: end?.[1] };
  }

  /** Begins behind the mark with which the last block ended. */
  next(): void {
    const text = this.#read();
    this.#from = text.indexOf('\n', text.lastIndexOf(this.mark)) + 1;
  }

  async ended(what: string): Promise<Pasted> {
    for (const until = Date.now() + BLOCK_MS; ; await sleep(20)) {
      const { end, ...pasted } = this.since();
      if (end === 'cont') throw new Error(`the shell wants more after:\n${what}`);
      if (end !== undefined) {
        this.next();
        return pasted;
      }
      if (Date.now() > until) throw new Error(`not over after ${BLOCK_MS / 1000} s:\n${what}\n${pasted.output}`);
    }
  }
}

/** bash, as it reads what is pasted from standard input. */
async function openBash({ cwd, env }: Place): Promise<Shell> {
  const child = spawn('bash', ['--norc'], { cwd, env, stdio: 'pipe', detached: true });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const output = new Output(() => text);
  const type = (line: string) => child.stdin.write(`${line}\n`);
  // by one pipe: of two, the mark may be read before an error that was printed before it
  type('exec 2>&1');
  type(`trap 'printf "\\n${output.mark} failed %s\\n" "$?"' ERR`);
  return {
    async paste(block) {
      type(block);
      type(`printf '\\n${output.mark} end\\n'`);
      return output.ended(block);
    },
    leave: (block) => void type(block),
    seen: () => output.since(),
    close: () => ended(child, () => process.kill(-(child.pid ?? 0), 'SIGKILL')),
  };
}

const PASTE = ['\x1b[200~', '\x1b[201~'] as const;

/**
 * An interactive zsh under a pseudo-terminal, which gets a bracketed paste, as terminals send it. What commands print goes to
 * a file, so that it is not mixed with the echo of the line editor.
 */
async function openZsh({ cwd, env }: Place): Promise<Shell> {
  const file = join(cwd, `.zsh-${randomUUID()}`);
  writeFileSync(file, '');
  const output = new Output(() => readFileSync(file, 'utf8'));
  const child = spawn('script', ['-qefc', `exec zsh -f -i >>'${file}' 2>&1`, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm-256color', EDITOR: '', VISUAL: '', SHELL: '/bin/sh' },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // told by the line editor itself: a prompt may be drawn again at any time
  const setup = [
    `zle-line-init() { print -r -- $'\\n'"${output.mark} \${CONTEXT/start/end}" }; zle -N zle-line-init`,
    `TRAPZERR() { print -r -- $'\\n'"${output.mark} failed $?" }`,
  ];
  child.stdin.write(`${setup.join('; ')}\r`);
  await output.ended('the start of zsh');
  const paste = (text: string) => child.stdin.write(`${PASTE[0]}${text.replaceAll('\n', '\r')}${PASTE[1]}\r`);
  return {
    async paste(block) {
      paste(block);
      return output.ended(block);
    },
    leave: (block) => void paste(block),
    seen: () => output.since(),
    // by its session: a server may ignore that its terminal goes
    close: () =>
      ended(child, () => {
        const [zsh = 0] = processes('--ppid', String(child.pid));
        const all = processes('-s', String(zsh)).map(String);
        // one that has ended by itself meanwhile is no error
        if (all.length > 0) spawnSync('kill', ['-9', ...all]);
        child.kill('SIGTERM');
      }),
  };
}

/** The processes that `ps` selects by these options. */
function processes(...options: string[]): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', ...options], { encoding: 'utf8' });
  return stdout.split('\n').map(Number).filter(Boolean);
}

async function ended(child: ChildProcess, kill: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  kill();
  await Promise.race([exit, sleep(ENDED_MS)]);
  if (child.pid !== undefined && existsSync(`/proc/${child.pid}`)) child.kill('SIGKILL');
}
