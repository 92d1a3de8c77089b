import { register } from 'node:module';

// The conformance package imports fs.globSync, which Node.js has from 22 on, for commands that no test uses.
const FS = `export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];`;
const hooks = `export const resolve = (name, context, next) =>
  name === 'fs' && context.parentURL?.includes('/conformance/')
    ? { url: 'data:text/javascript,${encodeURIComponent(FS).replaceAll("'", '%27')}', shortCircuit: true }
    : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
