import { parentPort } from 'node:worker_threads';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';

/** Values to be checked against JSON Schemas; each schema as its text. */
export interface Check {
  schemas: string[];
  values: unknown[];
}

export interface Misfit {
  /** Dotted, from the value's root: '' or '.a.0'. */
  path: string;
  message: string;
}

/** The mismatches of each value and schema; or the index of an invalid schema. */
export type Checked = { misfits: Misfit[][][] } | { wrong: number; message: string };

const MAX_MISFITS = 50;
const MAX_CACHED = 2_000_000;
const ENDLESS = [{ path: '', message: 'cannot be checked: the schema refers to itself without end' }];

const compiled = new Map<string, ValidateFunction>();
let cached = 0;

/** JavaScript's own engine backtracks: a pattern of twenty characters can take longer than the deadline. */
function linearRegExp(pattern: string) {
  const linear = RE2JS.compile(RE2JS.translateRegExp(pattern));
  // ajv keeps patterns apart by their text
  return { test: (text: string) => linear.test(text), toString: () => pattern };
}
linearRegExp.code = 'linearRegExp';

function compile(text: string): ValidateFunction {
  const known = compiled.get(text);
  if (known) return known;
  const regExp = linearRegExp as unknown as NonNullable<
    NonNullable<ConstructorParameters<typeof Ajv2020>[0]>['code']
  >['regExp'];
  const validate = new Ajv2020({ strict: false, allErrors: true, logger: false, code: { regExp } }).compile(
    JSON.parse(text),
  );
  // Async validators return a promise, which is always truthy.
  if ('$async' in validate) throw new Error('$async is not supported');
  validate(null);
  cached += text.length;
  if (cached > MAX_CACHED) {
    compiled.clear();
    cached = text.length;
  }
  compiled.set(text, validate);
  return validate;
}

function misfits(validate: ValidateFunction, value: unknown): Misfit[] {
  try {
    if (validate(value)) return [];
  } catch {
    return ENDLESS;
  }
  return (validate.errors ?? []).slice(0, MAX_MISFITS).map((e) => ({
    path: e.instancePath.replaceAll('/', '.'),
    message: e.message ?? 'is wrong',
  }));
}

function check({ schemas, values }: Check): Checked {
  const validators: ValidateFunction[] = [];
  for (const [n, text] of schemas.entries()) {
    try {
      validators.push(compile(text));
    } catch (error) {
      return { wrong: n, message: (error as Error).message };
    }
  }
  return { misfits: values.map((value) => validators.map((validate) => misfits(validate, value))) };
}

parentPort?.on('message', (job: Check) => parentPort?.postMessage(check(job)));
// Compiles the meta-schema at the start, so that the first caller does not wait for it.
compile('{"pattern": "^a"}');
parentPort?.postMessage('ready');
