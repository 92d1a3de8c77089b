import { METHOD_NAME_ALL, type Params, type Result, type Router } from 'hono/router';

/** A node of the tree of paths: its children by name, and the child for a parameter. */
interface Segment<T> {
  named: Map<string, Segment<T>>;
  any: Segment<T> | undefined;
  /** Handlers of the path that ends here, by method. */
  routes: Map<string, { handler: T; names: string[] }>;
}

/**
 * Finds the one handler of a call. Hono's own routers collect every handler that matches, or do not accept paths like
 * `/tickets/resolve` beside `/tickets/:id`. Names take precedence over parameters, methods over `ALL`.
 */
export class PathRouter<T> implements Router<T> {
  readonly name = 'PathRouter';
  readonly #root: Segment<T> = newSegment();

  add(method: string, path: string, handler: T): void {
    const names: string[] = [];
    let at = this.#root;
    for (const part of partsOf(path)) {
      if (part.startsWith(':')) {
        names.push(part.slice(1));
        at.any ??= newSegment();
        at = at.any;
        continue;
      }
      const next = at.named.get(part) ?? newSegment<T>();
      at.named.set(part, next);
      at = next;
    }
    at.routes.set(method, { handler, names });
  }

  match(method: string, path: string): Result<T> {
    const parts = partsOf(path);
    const found = find(this.#root, method, parts, 0, []) ?? find(this.#root, METHOD_NAME_ALL, parts, 0, []);
    return [found ? [found] : []];
  }
}

function find<T>(
  at: Segment<T>,
  method: string,
  parts: string[],
  depth: number,
  values: string[],
): [T, Params] | undefined {
  const part = parts[depth];
  if (part === undefined) {
    const route = at.routes.get(method);
    if (!route) return undefined;
    const params: Params = {};
    for (const [n, name] of route.names.entries()) params[name] = values[n] ?? '';
    return [route.handler, params];
  }
  const next = at.named.get(part);
  const found = next && find(next, method, parts, depth + 1, values);
  if (found || !at.any || part === '') return found;
  return find(at.any, method, parts, depth + 1, [...values, part]);
}

const partsOf = (path: string) => path.slice(1).split('/');

const newSegment = <T>(): Segment<T> => ({ named: new Map(), any: undefined, routes: new Map() });
