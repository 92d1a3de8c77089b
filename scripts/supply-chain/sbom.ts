import { execFileSync } from 'node:child_process';
import { shippedPackages } from './shipped.ts';

// Prints what is shipped as a CycloneDX document: `npm run --silent sbom > docket.cdx.json`. npm itself would leave out what
// the console is made of, because Vite takes that from development dependencies.

interface Bom {
  components: { 'bom-ref': string; name: string; version: string; scope?: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
  [field: string]: unknown;
}

/** The document of all that package-lock.json has, cut to what is shipped. @throws Error where npm lacks a package of it */
function createSbom(): Bom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const bom = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })) as Bom;
  const shipped = new Set(shippedPackages().map(({ name, version }) => `${name}@${version}`));
  const components = bom.components.filter(({ name, version }) => shipped.has(`${name}@${version}`));
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  for (const one of shipped) if (!listed.has(one)) throw new Error(`npm sbom does not list ${one}`);
  const kept = new Set(components.map((c) => c['bom-ref']));
  const rootRef = (bom.metadata as { component: { 'bom-ref': string } }).component['bom-ref'];
  const dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref) || ref === rootRef)
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  return { ...bom, components, dependencies };
}

/** Whether the document can be made, and has everything that is shipped. */
export function checkSbom(): string[] {
  try {
    createSbom();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

if (import.meta.filename === process.argv[1]) console.log(JSON.stringify(createSbom(), null, 2));
