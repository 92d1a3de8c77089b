import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const KUSTOMIZE = 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1';

const run = (program: string, args: string[], env: NodeJS.ProcessEnv = process.env) =>
  execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', env });

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
  const bin = join(cacheDir, 'go-bin');
  const kustomize = join(bin, 'kustomize');
  if (!existsSync(kustomize)) {
    console.log(`building ${KUSTOMIZE} with Go`);
    mkdirSync(bin, { recursive: true });
    run('go', ['install', KUSTOMIZE], { ...process.env, GOBIN: bin });
  }
  return run(kustomize, ['build', folder]);
}
