import { parseSync, Visitor } from 'oxc-parser';

/** What the architecture rules look at in one TypeScript file. Lines count from 1. */
export interface Source {
  /** From the root, with `/`. */
  path: string;
  lines: number;
  functions: FunctionSpan[];
  /** String and template literals; a template's holes are spaces. */
  strings: { value: string; line: number }[];
  comments: { value: string; line: number }[];
}

interface FunctionSpan {
  name: string;
  line: number;
  lines: number;
  /** The function it is given to, if it is an argument: `describe`. */
  calledBy: string | null;
}

/** @throws Error when the file cannot be parsed */
export function readSource(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const lineOf = lineCounter(text);
  const functions: FunctionSpan[] = [];
  const strings: Source['strings'] = [];
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
    Literal(node) {
      if (typeof node.value === 'string') strings.push({ value: node.value, line: lineOf(node.start) });
    },
    TemplateLiteral(node) {
      strings.push({ value: node.quasis.map((q) => q.value.cooked ?? '').join(' '), line: lineOf(node.start) });
    },
  }).visit(program);
  return {
    path,
    lines: linesIn(text),
    functions,
    strings,
    comments: comments.map((c) => ({ value: c.value, line: lineOf(c.start) })),
  };
}

/** The number of lines of a text; a newline at its end begins no other. */
export const linesIn = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

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
