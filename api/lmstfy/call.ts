import { Topic } from '../../contract/jobs.ts';
import type { Role } from '../../contract/keys.ts';
import { Problem } from '../../services/shared/problems.ts';
import { type Caller, OPEN } from '../auth.ts';
import type { DialectCall } from '../dialects.ts';
import { checkNames } from '../scopes.ts';

/** What lmstfy takes where a call says nothing, in seconds. */
export const DEFAULT_TTL = 24 * 3600;
export const DEFAULT_TTR = 120;

/** lmstfy's limit of numbers, 2³²−1. */
const MAX_UINT32 = 4_294_967_295;

const NAME = /^[-_A-Za-z0-9]+$/;
const LONGEST_NAME = 255;
/** As many topics as a pop may name. */
const MOST_QUEUES = 100;

/** A call with what its path names, by a caller who may make it. */
export interface LmstfyCall extends DialectCall {
  namespace: string;
  /** As it stands in the path. */
  queue: string;
  /** Each with the topic that it is. */
  queues: { name: string; topic: string }[];
  /** That of the first queue. */
  topic: string;
  /** How jobs' histories name the caller. */
  actor: string;
}

/** What lmstfy answers with 400. */
export const bad = (error: string) => new Problem('invalid_request', error, { status: 400 });

/** A whole number of the query, `otherwise` where it is left out. @throws Problem 400 */
export function numberIn(
  call: DialectCall,
  name: string,
  otherwise: number,
  { least = 0, most = MAX_UINT32 } = {},
): number {
  const text = call.query(name);
  if (text === undefined) return otherwise;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) throw bad(`invalid ${name}`);
  return number;
}

export interface Admission {
  /** Whose keys may make this call, where the server asks for keys. */
  roles: Role[];
  /** It may name several queues, with commas between them. */
  several?: boolean;
}

/**
 * Checks names and token, in lmstfy's order.
 * @throws Problem 400, `unauthenticated`, `forbidden`
 */
export async function lmstfyCall(call: DialectCall, { roles, several = false }: Admission): Promise<LmstfyCall> {
  const [namespace, queue] = [call.param('namespace'), call.param('queue')];
  if (!NAME.test(namespace)) throw bad('namespace name contains forbidden characters');
  const names = several ? [...new Set(queue.split(','))].filter((name) => name !== '') : [queue];
  if (names.length === 0 || names.length > MOST_QUEUES) throw bad('invalid queue name(s)');
  const queues = names.map((name) => ({ name, topic: topicOf(namespace, name) }));
  const caller = await callerOf(call, roles);
  checkNames(
    caller,
    queues.map(({ topic }) => topic),
  );
  const actor = caller === OPEN ? `lmstfy ${call.incoming.socket.remoteAddress}` : caller.actor;
  return { ...call, namespace, queue, queues, topic: queues[0]?.topic ?? '', actor };
}

/** A queue is the topic `namespace/queue`. @throws Problem 400 */
function topicOf(namespace: string, queue: string): string {
  if (namespace.length > LONGEST_NAME || queue.length > LONGEST_NAME) throw bad('namespace or queue name too long');
  if (!NAME.test(queue) || queue.startsWith('_')) throw bad('queue name contains forbidden characters');
  const topic = `${namespace}/${queue}`;
  if (!Topic.safeParse(topic).success) throw bad('namespace or queue name too long');
  return topic;
}

/** A token is a key of the server. An open server takes any, and none. */
async function callerOf({ api, incoming, query }: DialectCall, roles: Role[]): Promise<Caller> {
  if (api.config.open) return OPEN;
  const token = tokenOf(incoming.headers['x-token']) || query('token') || '';
  if (token === '') throw new Problem('unauthenticated', 'token not found');
  const [, pool = 'default', key = ''] = /^(?:([^:]*):)?(.*)$/s.exec(token) ?? [];
  if (pool !== 'default') throw new Problem('not_found', 'pool not found');
  const caller = await api.auth.keyCaller(key).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'unauthenticated')
      throw new Problem('unauthenticated', 'invalid token');
    throw error;
  });
  if (caller.role === 'admin' || roles.includes(caller.role)) return caller;
  throw new Problem('forbidden', `a token that is a ${caller.role} key may not do this`);
}

const tokenOf = (header: string | string[] | undefined) => [header].flat()[0];
