import { isCompiled } from '../cli/servers/compiled.mjs';

// `docket api` or `docket worker` with numbers that no setting changes: node bench/process.mjs ROLE LIMITS

const [, , role, limits] = process.argv;
const compiled = isCompiled();
if (!compiled) (await import('tsx/esm/api')).register();
const load = (name) => import(compiled ? `../dist/${name}.js` : `../${name}.ts`);
const { run } = await load('cli/run');
const { readConfig } = await load('runtime/config');
await run(role, readConfig(process.env, JSON.parse(limits)));
