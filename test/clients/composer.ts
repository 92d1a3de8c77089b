import { execFileSync } from 'node:child_process';
import { needDebian } from '../support/debian.ts';

/** What the PHP client and a project of its user require, as Debian's packages have it. */
const LIBRARIES: Record<string, { debian: string; path: string; autoload: object }> = {
  'psr/http-client': library('php-psr-http-client', 'Psr/Http/Client', 'Psr\\Http\\Client\\'),
  'psr/http-factory': library('php-psr-http-factory', 'Psr/Http/Message', 'Psr\\Http\\Message\\'),
  'psr/http-message': library('php-psr-http-message', 'Psr/Http/Message', 'Psr\\Http\\Message\\'),
  'guzzlehttp/guzzle': { debian: 'php-guzzlehttp-guzzle', path: 'GuzzleHttp', autoload: { files: ['autoload.php'] } },
};

function library(debian: string, path: string, namespace: string) {
  return { debian, path, autoload: { 'psr-4': { [namespace]: '' } } };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is dpkg's
const FORMAT = '${Version}';

/** A repository of Composer's with one library of Debian's in it. */
function repository(name: string) {
  const { debian, path, autoload } = LIBRARIES[name] as (typeof LIBRARIES)[string];
  const found = execFileSync('dpkg-query', ['-W', '-f', FORMAT, debian], { encoding: 'utf8' });
  const [version] = found.split('-');
  const dist = { type: 'path', url: `/usr/share/php/${path}` };
  return { type: 'package', package: { name, version, dist, autoload } };
}

/**
 * Repositories of Composer's that need no registry: the libraries are those of Debian's packages, which are installed if
 * need be, Composer too.
 * @throws Error where they are missing and cannot be installed
 */
export function debianRepositories(): object[] {
  needDebian('composer', 'php-cli', 'php-curl', 'php-guzzlehttp-guzzle');
  return [...Object.keys(LIBRARIES).map(repository), { 'packagist.org': false }];
}
