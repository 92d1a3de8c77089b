import { SMALL_BODY } from '../../contract/common.ts';
import type { Item } from '../../contract/items.ts';
import { DEFAULT_PRIORITY, JobParam, NewJob, Topic } from '../../contract/jobs.ts';
import { isFinal } from '../../domain/items.ts';
import { bodyBytes, bodyOfBytes } from '../../domain/jobs.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as jobs from '../../services/jobs/jobs.ts';
import * as popping from '../../services/jobs/popping.ts';
import { problemOf } from '../../services/shared/checks.ts';
import { Problem } from '../../services/shared/service.ts';
import { readBytes, type Sender } from '../body.ts';

const MAX_DELAY = 2 ** 31;
const MAX_TTR = 86_400;
/** As in the original: the time-out of its clients is 180 s. */
const WAIT_SECONDS = 178;
const MOST_TOPICS = 100;

export interface DelayQueueCall extends Sender {
  signal: Gone;
}

/** The actor in the job's history: the caller's address, because the API has no keys. */
const actorOf = ({ incoming }: DelayQueueCall) => `delay-queue ${incoming.socket.remoteAddress}`;

export async function push(call: DelayQueueCall) {
  const sent = sentOf(await readBytes(call, SMALL_BODY));
  const [id, topic] = [textOf(sent, 'id').trim(), textOf(sent, 'topic').trim()];
  const [delay, ttr, body] = [numberOf(sent, 'delay'), numberOf(sent, 'ttr'), textOf(sent, 'body')];
  if (id === '') throw new Refused(SAYS.noId);
  if (topic === '') throw new Refused(SAYS.noTopic);
  if (delay <= 0 || delay > MAX_DELAY) throw new Refused(SAYS.delay);
  if (ttr <= 0 || ttr > MAX_TTR) throw new Refused(SAYS.ttr);
  const job = { topic, id, delay, TTR: ttr, body: bodyOfBytes(Buffer.from(body)), priority: DEFAULT_PRIORITY };
  const checked = NewJob.safeParse(job);
  if (!checked.success) throw new Refused(problemOf(checked.error, 'job').message);
  await refusing(jobs.add(call.api.ctx, checked.data, actorOf(call)));
  return done(null, SAYS.added);
}

/** Hands out one job. Topics that are named first take precedence. */
export async function pop(call: DelayQueueCall) {
  const sent = sentOf(await readBytes(call, SMALL_BODY));
  const names = textOf(sent, 'topic').split(',');
  const topics = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  if (topics.length === 0) throw new Refused(SAYS.noTopics);
  if (topics.length > MOST_TOPICS) throw new Refused(`topic: a pop may name ${MOST_TOPICS} at most`);
  for (const topic of topics) {
    const checked = Topic.safeParse(topic);
    if (!checked.success) throw new Refused(problemOf(checked.error, 'topic').message);
  }
  const request = { topics, count: 1, waitSeconds: WAIT_SECONDS, holder: actorOf(call), signal: call.signal };
  const [job] = await popping.popInOrder(call.api.ctx, request);
  return done(job ? { id: job.id, body: bodyText(job) } : null);
}

/** Finishes a job, whoever holds it. An unknown or final job is a success. */
export async function finish(call: DelayQueueCall) {
  const id = await idOf(call);
  if (id !== undefined) await orNone(jobs.finish(call.api.ctx, id, null, actorOf(call)));
  return done();
}

export async function end(call: DelayQueueCall) {
  const id = await idOf(call);
  if (id !== undefined) await orNone(jobs.remove(call.api.ctx, id, actorOf(call), true));
  return done();
}

export async function get(call: DelayQueueCall) {
  const id = await idOf(call);
  const job = id === undefined ? undefined : await orNone(jobs.find(call.api.ctx, id));
  if (!job || isFinal(job.state)) return done();
  const { queue: topic, available_at: due, lease_seconds: ttr } = job;
  return done({ topic, id: job.id, delay: Math.floor(due.getTime() / 1000), ttr, body: bodyText(job) });
}

/** The id of a call; undefined: no job can have it. @throws Refused where it is missing */
async function idOf(call: DelayQueueCall): Promise<string | undefined> {
  const id = textOf(sentOf(await readBytes(call, SMALL_BODY)), 'id').trim();
  if (id === '') throw new Refused(SAYS.noId);
  return JobParam.safeParse({ id }).success ? id : undefined;
}

/** The body as text; bytes that are no UTF-8 as the JSON that represents them. */
function bodyText({ body }: Pick<Item, 'body'>): string {
  const bytes = bodyBytes(body);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : JSON.stringify(body);
}

/** The result; undefined for `not_found`. */
const orNone = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') return undefined;
    throw error;
  });

/** Turns problems with a job into rejections of this API. */
const refusing = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof Problem && error.status < 429) throw new Refused(error.message);
    throw error;
  });

/** The answer to every call; code 0: success. */
interface Answer {
  code: number;
  message: string;
  data: unknown;
}

// The messages of the original, for which its users search their logs.
const SAYS = {
  added: '添加成功',
  done: '操作成功',
  noId: 'job id不能为空',
  noTopic: 'topic 不能为空',
  noTopics: 'topic不能为空',
  delay: 'delay 取值范围1 - (2^31 - 1)',
  ttr: 'ttr 取值范围1 - 86400',
  notJson: '解析json失败',
} as const;

const done = (data: unknown = null, message: string = SAYS.done): Answer => ({ code: 0, message, data });
export const failed = (message: string): Answer => ({ code: 1, message, data: null });

/** A call that is invalid or too late. */
export class Refused extends Error {}

type Sent = Map<string, unknown>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The fields of a body, read as the original does: any content type, names in upper or lower case, `null` as if it were missing.
 * @throws Refused
 */
function sentOf(bytes: Buffer): Sent {
  const value = parsed(bytes);
  if (value === null) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) throw new Refused(SAYS.notJson);
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return new Map(fields.map(([name, field]) => [name.toLowerCase(), field]));
}

/** @throws Refused for what is not a string */
function textOf(sent: Sent, name: string): string {
  const text = sent.get(name) ?? '';
  if (typeof text !== 'string') throw new Refused(SAYS.notJson);
  return text;
}

/** @throws Refused for what is not a whole number */
function numberOf(sent: Sent, name: string): number {
  const number = sent.get(name) ?? 0;
  if (!Number.isSafeInteger(number)) throw new Refused(SAYS.notJson);
  return number as number;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Refused(SAYS.notJson);
  }
}
