import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { builtByGo } from './go.ts';

const VERSION = '5.7.1';

const run = (program: string, args: string[]) =>
  execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

/**
 * What a folder's kustomization makes: YAML documents. By kubectl or kustomize where one is installed, else by a kustomize that Go
 * builds, once.
 * @throws Error with what kustomize said
 */
export function rendered(folder: string, cacheDir: string): string {
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
