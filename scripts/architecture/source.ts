import { parseSync, type StaticImport, Visitor } from 'oxc-parser';

/** What the house rules look at in one TypeScript file. Lines count from 1. */
export interface Source {
  /** From the root, with `/`. */
  path: string;
  text: string;
  lines: number;
  imports: Import[];
  functions: FunctionSpan[];
  /** String and template literals; a template's holes are spaces. */
  strings: { value: string; line: number }[];
  comments: { value: string; line: number }[];
}

export interface Import {
  /** As written: `./items.ts`, `pg`, `node:fs`. */
  from: string;
  /** Nothing of it is left at run time. */
  typeOnly: boolean;
  line: number;
}

export interface FunctionSpan {
  name: string;
  line: number;
  lines: number;
  /** The function it is given to, if it is an argument: `describe`. */
  calledBy: string | null;
}

/** @throws Error when the file cannot be parsed */
export function readSource(path: string, text: string): Source {
  const { program, module, comments, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const lineOf = lineCounter(text);
  const functions: FunctionSpan[] = [];
  const strings: Source['strings'] = [];
  const imports: Import[] = module.staticImports.map((i) => ({
    from: i.moduleRequest.value,
    typeOnly: isTypeOnly(i, text),
    line: lineOf(i.start),
  }));
  const passed = new Map<number, string>();
  const named = new Map<number, string>();
  const span = (node: { start: number; end: number; id?: { name?: string } | null }) => {
    const line = lineOf(node.start);
    functions.push({
      name: node.id?.name ?? named.get(node.start) ?? 'function',
      line,
      lines: lineOf(node.end) - line + 1,
      calledBy: passed.get(node.start) ?? null,
    });
  };
  const reexport = (node: { source: { value: string } | null; exportKind?: string; start: number }) => {
    if (node.source)
      imports.push({ from: node.source.value, typeOnly: node.exportKind === 'type', line: lineOf(node.start) });
  };
  new Visitor({
    CallExpression(node) {
      const callee = text.slice(node.callee.start, node.callee.end);
      for (const argument of node.arguments) passed.set(argument.start, callee.split('.')[0] ?? callee);
    },
    VariableDeclarator(node) {
      if (node.init && node.id.type === 'Identifier') named.set(node.init.start, node.id.name);
    },
    MethodDefinition(node) {
      named.set(node.value.start, text.slice(node.key.start, node.key.end));
    },
    Property(node) {
      named.set(node.value.start, text.slice(node.key.start, node.key.end));
    },
    FunctionDeclaration: span,
    FunctionExpression: span,
    ArrowFunctionExpression: span,
    ExportNamedDeclaration: reexport,
    ExportAllDeclaration: reexport,
    ImportExpression(node) {
      if (node.source.type === 'Literal')
        imports.push({ from: String(node.source.value), typeOnly: false, line: lineOf(node.start) });
    },
    Literal(node) {
      if (typeof node.value === 'string') strings.push({ value: node.value, line: lineOf(node.start) });
    },
    TemplateLiteral(node) {
      strings.push({ value: node.quasis.map((q) => q.value.cooked ?? '').join(' '), line: lineOf(node.start) });
    },
  }).visit(program);
  return {
    path,
    text,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports,
    functions,
    strings,
    comments: comments.map((c) => ({ value: c.value, line: lineOf(c.start) })),
  };
}

/** `import type x` and `import { type x }` leave nothing behind; a bare `import 'x'` does. */
function isTypeOnly(i: StaticImport, text: string): boolean {
  if (/^import\s+type\b(?!\s*from\b)/.test(text.slice(i.start, i.end))) return true;
  return i.entries.length > 0 && i.entries.every((e) => e.isType);
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
