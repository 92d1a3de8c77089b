import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';
import { checkRooms } from './rooms.ts';

/**
 * The flow: a folder may import itself and what is named here. `types`: only with `import type`, so
 * that nothing of it can get into a bundle. `packages`: all that it may take from outside, modules of Node
 * included; without it, anything.
 */
export const FLOW: Record<string, { values: string[]; types?: string[]; packages?: string }> = {
  contract: { values: [], packages: '@hono/zod-openapi|zod' },
  domain: { values: ['contract'], packages: 'ipaddr.js' },
  db: { values: ['contract', 'domain'], packages: 'pg|pg-copy-streams|crypto|fs|stream/promises|url' },
  runtime: { values: ['contract', 'domain', 'db'] },
  services: { values: ['contract', 'domain', 'db', 'runtime'] },
  activities: { values: ['contract', 'domain', 'runtime', 'services'], types: ['db'] },
  workflows: { values: ['domain'], types: ['contract', 'activities'], packages: '@temporalio/(workflow|common)' },
  worker: { values: ['contract', 'domain', 'runtime', 'services', 'activities'], types: ['db'] },
  api: { values: ['contract', 'domain', 'runtime', 'services'], types: ['db'] },
  cli: { values: ['contract', 'domain', 'runtime', 'services', 'api', 'worker'], types: ['db'] },
  web: { values: [], types: ['contract', 'clients'] },
  clients: { values: [] },
  examples: { values: ['clients'] },
};

/** Outside of the flow, together with files of the root: they may import anything but commands. */
const AROUND = ['scripts', 'test', 'bench'];

const within = (...folders: string[]) => `^(${folders.join('|')})/`;
const known = `${within(...Object.keys(FLOW), ...AROUND)}|^[^/]+$`;
const place = 'the folder has no place in the flow: give it one in scripts/architecture/imports.ts';

const rules: IForbiddenRuleType[] = [
  { name: 'circle', comment: 'a circle: move what both need to a third file', from: {}, to: { circular: true } },
  { name: 'place', comment: place, from: { pathNot: known }, to: {} },
  { name: 'place of a file that imports nothing', comment: place, from: { pathNot: known, orphan: true }, to: {} },
  ...Object.keys(FLOW).flatMap(flowOf),
  {
    name: 'commands',
    comment:
      'of cli/ only what starts servers and processes may be imported: cli/servers/, cli/process.ts, cli/library.ts, cli/command-line.ts',
    from: { pathNot: within(...Object.keys(FLOW)) },
    to: { path: '^cli/', pathNot: '^cli/(servers/|(process|library|command-line)\\.ts$)' },
  },
  {
    name: 'servers',
    comment: 'cli/servers/, cli/exporting/ and cli/outbox/ import no command',
    from: { path: '^cli/(servers|exporting|outbox)/' },
    to: { path: '^cli/[^/]+$' },
  },
  {
    name: 'nouns',
    comment:
      'one noun of api/ imports another: move what both need to services/ or, if it is about HTTP, to api/ itself',
    from: { path: '^api/([^/]+)/' },
    to: { path: '^api/[^/]+/', pathNot: '^api/($1|streams)/' },
  },
  {
    name: 'shared by nouns',
    comment: 'what all nouns of api/ use imports none of them',
    from: { path: '^api/[^/]+$', pathNot: '^api/(app|nouns)\\.ts$' },
    to: { path: '^api/[^/]+/', pathNot: '^api/streams/' },
  },
  {
    name: 'record of services',
    comment: 'services/services.ts puts the services together: no service imports it',
    from: { path: '^services/' },
    to: { path: '^services/services\\.ts$' },
  },
];

function flowOf(folder: string): IForbiddenRuleType[] {
  const { values, types = [], packages } = FLOW[folder] ?? { values: [] };
  const from = { path: within(folder) };
  const flow: IForbiddenRuleType = {
    name: `flow of ${folder}`,
    comment: `against the flow: ${folder}/ may import ${[...values, ...types].join(', ') || 'no other folder'}`,
    from,
    to: { dependencyTypes: ['local'], pathNot: within(folder, ...values, ...types) },
  };
  const typesOnly: IForbiddenRuleType = {
    name: `types for ${folder}`,
    comment: `${folder}/ may import types of ${types.join(', ')} only: write \`import type\``,
    from,
    to: { path: within(...types), dependencyTypesNot: ['type-only'] },
  };
  const outside: IForbiddenRuleType = {
    name: `packages of ${folder}`,
    comment: `${folder}/ may import ${packages} only`,
    from,
    to: { dependencyTypesNot: ['local', 'type-only'], pathNot: `^(.*node_modules/(${packages})/.*|${packages})$` },
  };
  return [flow, ...(types.length > 0 ? [typesOnly] : []), ...(packages ? [outside] : [])];
}

/**
 * Every import that goes against the flow, and rooms of services/ that are too tangled.
 * @param files from `dir`; what they import is followed
 */
export async function checkImports(files: string[], dir = process.cwd()): Promise<string[]> {
  const { output } = await cruise(files, {
    baseDir: dir,
    validate: true,
    ruleSet: { forbidden: rules },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // what `npm run build` makes of the same files
    exclude: { path: '^dist/' },
  });
  const { modules, summary } = output as ICruiseResult;
  const violations = summary.violations.map(({ from, to, cycle, rule }) => {
    const { comment } = rules.find((r) => r.name === rule.name) ?? {};
    const path = cycle ? [from, ...cycle.map((c) => c.name)] : [...new Set([from, to])];
    return `${path.join(' → ')}: ${comment}`;
  });
  const imports = modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => ({ from: source, to: resolved })),
  );
  return [...violations, ...checkRooms(imports)];
}
