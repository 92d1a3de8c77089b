import { SMALL_BODY } from '../../contract/common.ts';
import { DEFAULT_PRIORITY } from '../../contract/jobs.ts';
import { bodyOfBytes } from '../../domain/jobs.ts';
import { type JobLimits, put } from '../../services/jobs/jobs.ts';
import { Problem } from '../../services/shared/problems.ts';
import { LARGE_BODY } from '../endpoint.ts';
import type { Outcome } from '../frame.ts';
import { bad, DEFAULT_TTL, DEFAULT_TTR, type LmstfyCall, numberIn } from './call.ts';
import { end, find } from './jobs.ts';

const MAX_UINT16 = 65_535;
const MOST_IN_BULK = 64;

const MOST_ATTRIBUTES = 16;
const LONGEST_ATTRIBUTE_NAME = 32;
const LONGEST_ATTRIBUTE = 128;
const ATTRIBUTE = 'job-attr-';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** What a call says of all jobs that it publishes. */
interface Publication {
  delay: number;
  limits: JobLimits;
}

export async function publish(call: LmstfyCall): Promise<Outcome> {
  const publication = publicationOf(call);
  const number = await add(call, publication, await call.body(SMALL_BODY));
  return { status: 201, body: { msg: 'published', job_id: number } };
}

/** Each element of the array is a job, its body the element's text. */
export async function publishBulk(call: LmstfyCall): Promise<Outcome> {
  const publication = publicationOf(call);
  const jobs = elementsOf(await call.body(LARGE_BODY));
  if (jobs.length === 0) throw bad('no jobs');
  if (jobs.length > MOST_IN_BULK) throw bad('too many jobs');
  if (jobs.some((job) => job.length > SMALL_BODY)) throw new Problem('payload_too_large', 'job too large');
  const numbers = await Promise.all(jobs.map((job) => add(call, publication, job)));
  return { status: 201, body: { msg: 'published', job_ids: numbers } };
}

/** The new job is there before the old one is ended: if the process dies in between there are both, never none. */
export async function republish(call: LmstfyCall): Promise<Outcome> {
  const published = await publish(call);
  const job = await find(call);
  if (job) await end(call, job);
  return published;
}

/**
 * Its TTR is for those who take it over another transport: lmstfy's consumers say their own.
 * @returns the job's number, which is its id for lmstfy's clients
 */
async function add({ api, topic, actor }: LmstfyCall, { delay, limits }: Publication, bytes: Buffer): Promise<string> {
  const job = { topic, delay, TTR: DEFAULT_TTR, body: bodyOfBytes(bytes), priority: DEFAULT_PRIORITY };
  const { seq } = await put(api.ctx, job, actor, limits);
  return String(seq);
}

/** @throws Problem 400 */
function publicationOf(call: LmstfyCall): Publication {
  const delay = numberIn(call, 'delay', 0);
  const ttl = numberIn(call, 'ttl', DEFAULT_TTL);
  if (ttl > 0 && ttl < delay) throw bad('ttl is shorter than delay');
  const attempts = numberIn(call, 'tries', 1, { most: MAX_UINT16 });
  if (attempts === 0) throw bad("tries shouldn't be zero");
  const attributes = attributesOf(call);
  return {
    delay,
    limits: { maxAttempts: attempts, ...(ttl > 0 && { deadlineSeconds: ttl }), ...(attributes && { attributes }) },
  };
}

/** Of the headers `Job-Attr-…`, where the client says that it reads them. @throws Problem 400 */
function attributesOf({ incoming: { headers, headersDistinct } }: LmstfyCall): Record<string, string> | undefined {
  if (String(headers['enable-job-version'] ?? '').toUpperCase() !== 'YES') return undefined;
  const attributes = new Map<string, string>();
  for (const [header, [value = ''] = []] of Object.entries(headersDistinct))
    if (header.startsWith(ATTRIBUTE) && value !== '')
      attributes.set(header.slice(ATTRIBUTE.length).slice(0, LONGEST_ATTRIBUTE_NAME), textOf(value));
  if (attributes.size > MOST_ATTRIBUTES) throw bad(`too many attributes, cannot exceed ${MOST_ATTRIBUTES}`);
  return attributes.size > 0 ? Object.fromEntries(attributes) : undefined;
}

/** A header's bytes, cut as lmstfy cuts them; Node takes each for a character. */
const textOf = (value: string) => Buffer.from(value, 'latin1').subarray(0, LONGEST_ATTRIBUTE).toString('utf8');

/**
 * The elements of a JSON array as they were sent: numbers read and written again would lose digits.
 * @throws Problem 400
 */
function elementsOf(body: Buffer): Buffer[] {
  const text = arrayText(body);
  const elements: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '[' || char === '{') {
      if (depth++ === 0) from = at + 1;
    } else if ((char === ',' && depth === 1) || ((char === ']' || char === '}') && --depth === 0)) {
      elements.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return elements.filter((element) => element !== '').map((element) => Buffer.from(element));
}

/** Where the string ends that begins at this quotation mark. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function arrayText(body: Buffer): string {
  try {
    const text = utf8.decode(body);
    if (Array.isArray(JSON.parse(text))) return text;
  } catch {
    // not JSON in UTF-8, as below
  }
  throw bad('request body should be an array of objects');
}
