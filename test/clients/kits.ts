import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needDebian } from '../support/debian.ts';
import { ownFolder } from '../support/own.ts';
import { pythonWith } from '../support/python.ts';

/** How programs that use one of the clients are run. */
export interface Kit {
  /** The command, and the arguments that come before the program's file. */
  command: string[];
  /** Where a program has to be to find the client. */
  dir: string;
  /** `mjs`, `py`, `php`: of programs, and of test/clients/driver.*. */
  extension: string;
  /** The README's examples as they stand there. */
  examples: string[];
  /** Instead of `command` for an example that is a page and no server: serves the file at this port. */
  serve?(file: string, port: number): string[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const client = (...path: string[]) => join(root, 'clients', ...path);

function kit(name: string, fence: string, extension: string, command: string[]): Kit {
  const readme = readFileSync(client(name, 'README.md'), 'utf8');
  const fences = readme.matchAll(new RegExp(`\`\`\`${fence}\n([\\s\\S]*?)\`\`\``, 'g'));
  const examples = [...fences].map(([, example = '']) => example);
  const dir = ownFolder(name);
  copyFileSync(join(import.meta.dirname, `driver.${extension}`), join(dir, `driver.${extension}`));
  return { command, dir, extension, examples };
}

/** Built as it would be published, and installed into the folder of the programs. */
export function typescriptKit(): Kit {
  const made = kit('typescript', 'js', 'mjs', [process.execPath]);
  const installed = join(made.dir, 'node_modules', '@docket', 'client');
  mkdirSync(installed, { recursive: true });
  copyFileSync(client('typescript', 'package.json'), join(installed, 'package.json'));
  const build = ['run', 'build', '--workspace', 'clients/typescript', '--', '--outDir', join(installed, 'dist')];
  execFileSync('npm', build, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  // what it and the README's examples need
  for (const name of ['standardwebhooks', 'pg'])
    symlinkSync(join(root, 'node_modules', name), join(made.dir, 'node_modules', name), 'dir');
  return made;
}

/** The package installed into an environment of its own, which is kept for the next run. */
export function pythonKit(cacheDir: string): Kit {
  const project = readFileSync(client('python', 'pyproject.toml'), 'utf8');
  const python = pythonWith(cacheDir, 'client', ['mypy', '--editable', client('python')], project);
  return kit('python', 'python', 'py', [python, '-B']);
}

const PHP_LIBRARIES = '/usr/share/php/GuzzleHttp/autoload.php';

/** Debian's PHP and Guzzle. @throws Error where they are missing and cannot be installed */
export function phpKit(): Kit {
  needDebian('php-cli', 'php-curl', 'php-guzzlehttp-guzzle', 'php-sqlite3', 'php-pgsql');
  const made = kit('php', 'php', 'php', ['php']);
  mkdirSync(join(made.dir, 'vendor'));
  // what Composer would write
  writeFileSync(
    join(made.dir, 'vendor', 'autoload.php'),
    `<?php
require '${PHP_LIBRARIES}';
spl_autoload_register(function (string $class): void {
    $file = '${client('php', 'src')}/' . strtr(substr($class, strlen('Docket\\\\')), '\\\\', '/') . '.php';
    if (str_starts_with($class, 'Docket\\\\') && is_file($file)) {
        require $file;
    }
});
`,
  );
  return { ...made, serve: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file] };
}
