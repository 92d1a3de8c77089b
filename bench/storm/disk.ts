import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BYTES = 2_000_000_000;
const PIECE = Buffer.alloc(2 ** 20);

/** A file system in a file, so that a disk can be full without harm to the machine. */
export interface Disk {
  /** Takes what is free. */
  fill(): void;
  empty(): void;
  unmount(): void;
}

/** @returns undefined where this user may not mount one */
export function mountDisk(image: string, path: string): Disk | undefined {
  mkdirSync(path);
  closeSync(openSync(image, 'w'));
  truncateSync(image, BYTES);
  try {
    execFileSync('mkfs.ext4', ['-q', '-m', '0', image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop', image, path], { stdio: 'pipe' });
  } catch {
    rmSync(image, { force: true });
    return undefined;
  }
  const ballast = join(path, 'ballast');
  return {
    fill() {
      const fd = openSync(ballast, 'w');
      try {
        for (;;) writeSync(fd, PIECE);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(fd);
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    unmount() {
      // a process that was writing there may take a moment to be gone
      execFileSync('umount', ['--lazy', path]);
      rmSync(image);
    },
  };
}
