import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BYTES = 2_000_000_000;
const PIECE = Buffer.alloc(2 ** 20);

/** A file system in a file, so that a disk can be full without harm to the machine. */
export class Disk {
  readonly #image: string;
  readonly #path: string;

  private constructor(image: string, path: string) {
    this.#image = image;
    this.#path = path;
  }

  /** @returns undefined where this user may not mount one */
  static mount(image: string, path: string): Disk | undefined {
    mkdirSync(path);
    closeSync(openSync(image, 'w'));
    truncateSync(image, BYTES);
    try {
      execFileSync('mkfs.ext4', ['-q', '-m', '0', image], { stdio: 'pipe' });
      execFileSync('mount', ['-o', 'loop', image, path], { stdio: 'pipe' });
      return new Disk(image, path);
    } catch {
      rmSync(image, { force: true });
      return undefined;
    }
  }

  /** Takes what is free. */
  fill(): void {
    const fd = openSync(this.#ballast, 'w');
    try {
      for (;;) writeSync(fd, PIECE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(fd);
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  unmount(): void {
    // what was writing there may take a moment to be gone
    execFileSync('umount', ['--lazy', this.#path]);
    rmSync(this.#image);
  }

  get #ballast(): string {
    return join(this.#path, 'ballast');
  }
}
