import { execFile } from 'node:child_process';
import { shippedPackages } from './shipped.ts';

interface Vulnerability {
  severity: 'info' | 'low' | 'moderate' | 'high' | 'critical';
  /** Paths in package-lock.json. */
  nodes: string[];
  range: string;
  via: (string | { title: string; url: string })[];
}

interface Audit {
  vulnerabilities?: Record<string, Vulnerability>;
  message?: string;
}

/** What stops a change; the rest can wait for the next update. */
const STOPS = new Set(['high', 'critical']);
const TIMEOUT_MS = 45_000;
/** A registry that is away is asked once. */
const ONCE = ['--fetch-retries=0', '--fetch-timeout=5000'];

/**
 * Known vulnerabilities of what is shipped, from high on, as npm's registry knows them.
 * @param registry left out: that of npm's configuration
 * @returns problems, or why the registry could not be asked: some answer no audits
 */
export async function checkVulnerabilities(registry?: string): Promise<string[] | { skipped: string }> {
  const audit = await askRegistry(registry);
  const { vulnerabilities } = audit;
  if (!vulnerabilities) return { skipped: `the registry answers no audit: ${audit.message ?? 'no reason given'}` };
  const shipped = new Set(shippedPackages().map(({ path }) => path));
  return Object.entries(vulnerabilities)
    .filter(([, { severity, nodes }]) => STOPS.has(severity) && nodes.some((path) => shipped.has(path)))
    .map(([name, { severity, range, via }]) => `${name} ${range}: ${severity}, ${via.map(titleOf).join('; ')}`);
}

const titleOf = (via: Vulnerability['via'][number]) =>
  typeof via === 'string' ? `by ${via}` : `${via.title} ${via.url}`;

/** All of package-lock.json: what the console is made of are development dependencies. */
function askRegistry(registry?: string): Promise<Audit> {
  const args = ['audit', '--json', '--package-lock-only', ...ONCE, ...(registry ? [`--registry=${registry}`] : [])];
  return new Promise((resolve) => {
    execFile('npm', args, { timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      try {
        resolve(JSON.parse(stdout) as Audit);
      } catch {
        resolve({ message: error?.message.split('\n')[0] ?? 'npm audit printed no JSON' });
      }
    });
  });
}
