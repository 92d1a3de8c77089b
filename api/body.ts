import { Problem } from './problems.ts';

const MAX_DEPTH = 100;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** A body as it came; `value` is undefined where there was none. */
export interface Sent {
  value: unknown;
  bytes: number;
}

/**
 * Reads a JSON body; what is not UTF-8 is refused here, what could not be kept as sent by `checkValues`.
 * @param limit bytes
 */
export async function readJson(request: Request, limit: number): Promise<Sent> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return { value: undefined, bytes: 0 };
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/(.+\+)?json\s*(;|$)/i.test(type))
    throw new Problem('unsupported_media_type', 'send the body as application/json');
  try {
    return { value: JSON.parse(decoder.decode(bytes)), bytes: bytes.length };
  } catch {
    throw new Problem('invalid_request', 'the body is not valid JSON in UTF-8', {
      status: 400,
      errors: [{ path: '', message: 'is not valid JSON in UTF-8' }],
    });
  }
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const tooLarge = () => new Problem('payload_too_large', `the body may have ${limit} bytes at most`);
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge();
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Nothing gets lost on the way: NUL, lone surrogates and numbers that would be stored differently than they
 * were sent are refused. Walks without recursion: depth is the caller's to choose.
 * @throws Problem 422 that names the place
 */
export function checkValues(root: unknown): void {
  const open: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }];
  for (let at = open.pop(); at; at = open.pop()) {
    const { value, path, depth } = at;
    const wrong = wrongness(value, depth);
    if (wrong)
      throw new Problem('invalid_request', `${path || 'the body'} ${wrong}`, { errors: [{ path, message: wrong }] });
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      const childPath = path === '' ? key : `${path}.${key}`;
      const bad = key === '__proto__' ? 'is not allowed as a name' : wrongness(key, depth);
      if (bad)
        throw new Problem('invalid_request', `${childPath} ${bad}`, { errors: [{ path: childPath, message: bad }] });
      open.push({ value: child, path: childPath, depth: depth + 1 });
    }
  }
}

function wrongness(value: unknown, depth: number): string | null {
  if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} deep`;
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'contains a NUL character';
    if (!value.isWellFormed()) return 'contains half of a surrogate pair';
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'is a number out of range';
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      return 'is a whole number beyond 2^53, which JSON readers round: send it as a string';
  }
  return null;
}
