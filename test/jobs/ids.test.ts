import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NewName } from '../../contract/names.ts';
import { startTubes } from '../beanstalkd/system.ts';
import { eventually, type Json } from '../support/client.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 20);

const { api, at: wireAt } = await startTubes({});
const { eventTypes, events, job, jobsOf, oneJob, stats, workflow } = api.jobs;
const at = encodeURIComponent;

/** Four bytes in UTF-8 and two units in JavaScript each. */
const LONGEST = '😀'.repeat(200);

const CHOSEN = [
  ['a slash and a hash', 'order/2024#1'],
  ['Chinese', '中文'],
  ['a percent sign', '100%'],
  ['what looks percent-encoded', 'a%2Fb%252F%zz'],
  ['blanks', ' two  words '],
  ['a query', 'a?b=c&d'],
  ['quotes and backslashes', `"'\\{}[],;\``],
  ['dots within', './../x'],
  ['three dots', '...'],
  ['a name of prototypes', '__proto__'],
  ['separators of lines that are no control characters', 'a\u2028b\u2029c'],
  ['200 characters of four bytes', LONGEST],
] as const;

describe('S3.2 the business decides how ids and topics look', () => {
  test.each(CHOSEN)('%s', async (_, name) => {
    const add = { topic: name, id: name, TTR: 60, body: { name } };
    expect(await job('add', add)).toMatchObject({ success: true, error: null, id: name });
    expect(await job('add', add)).toMatchObject({ success: true, id: name, already: true });
    expect(await job('add', { ...add, body: 2 })).toMatchObject({ success: false, code: 'id_conflict' });
    expect(await job('peek', { id: name })).toMatchObject({ id: name, topic: name });
    expect(await oneJob(name)).toMatchObject({ id: name, topic: name, state: 'ready' });
    const popped = await job('pop', { topic: name });
    expect(popped).toMatchObject({ id: name, topic: name, value: { name } });
    expect(await job('touch', { id: name, token: popped.token })).toMatchObject({ success: true });
    expect(await job('release', { id: name, token: popped.token })).toMatchObject({ success: true });
    expect(await stats(name)).toMatchObject({ ready: 1, total: 1 });
    expect((await api.put(`/v1/topics/${at(name)}`, { maxAttempts: 9 })).body).toMatchObject({ name, maxAttempts: 9 });
    expect(await jobsOf(name)).toMatchObject([{ id: name }]);
    expect(await job('finish', { id: name })).toMatchObject({ success: true, id: name });
    expect(await eventTypes(name)).toEqual(['created', 'reserved', 'released', 'finished']);
    expect(await job('delete', { id: name })).toMatchObject({ success: true });
    // the path is known, whatever the name: its method is not
    expect((await api.put(`/v1/jobs/${at(name)}`, {})).status).toBe(405);
    expect((await api.put(`/v1/topics/${at(name)}/jobs`, {})).status).toBe(405);
  });

  test.each([
    ['a slash and a hash', 'w/2024#1'],
    ['200 characters of four bytes', '🦊'.repeat(200)],
  ])('S3.2 %s: its workflow runs, and ends with the job', async (_, name) => {
    await job('add', { topic: name, id: name, delay: 3600, TTR: 60, body: 1 });
    const { workflowId, uiUrl } = await eventually(async () => {
      const found = await workflow(name);
      return found.status === 'running' && found;
    });
    expect(workflowId).toBe(`job/${name}`);
    expect(decodeURIComponent(new URL(uiUrl).pathname)).toContain(`/workflows/job/${name}/`);
    expect(uiUrl).toContain(`/${at(`job/${name}`)}/`);
    expect(await job('finish', { id: name })).toMatchObject({ success: true });
    await eventually(async () => (await workflow(name)).status === 'completed');
  });

  test.each(['每日/账单 #1', '🦉'.repeat(200)])('S3.2 S3.7 topic %s has periodic jobs', async (topic) => {
    const path = `/v1/topics/${at(topic)}/schedules/daily`;
    expect((await api.put(path, { everySeconds: 1, body: 'due' })).body).toMatchObject({ topic, name: 'daily' });
    expect(await eventually(async () => (await job('pop', { topic, wait: 10 })).value)).toBe('due');
    expect((await api.get(`/v1/topics/${at(topic)}/schedules`)).body.items).toMatchObject([{ topic, name: 'daily' }]);
    expect((await api.raw('DELETE', path)).body).toEqual({ deleted: true });
  });

  test('S3.2 ids compare by code points: no normalization', async () => {
    const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];
    expect(await job('add', { topic: 'nfc', id: composed, body: 1 })).toMatchObject({ success: true });
    expect(await job('add', { topic: 'nfc', id: decomposed, body: 2 })).toMatchObject({ already: false });
    expect(await oneJob(decomposed)).toMatchObject({ id: decomposed, body: 2 });
  });

  test('S3.2 a path that is not percent-encoded UTF-8 is 422, never another job', async () => {
    await job('add', { topic: 'odd', id: '%zz', body: 1 });
    for (const path of ['%zz', '%', '%FF', '%ED%A0%80', 'a%0Ab'])
      expect(await api.get(`/v1/jobs/${path}`), path).toMatchObject({ status: 422 });
    expect((await api.get('/v1/jobs/%25zz')).body).toMatchObject({ id: '%zz' });
  });
});

/** Half of a surrogate pair. */
const LONE = 'a\ud83d';

test('S3.2 the OpenAPI document allows exactly what the API takes', async () => {
  const { paths, components } = (await api.get('/openapi.json')).body;
  const ajv = new Ajv2020({ strict: false });
  const inPath = (path: string) => ajv.compile(paths[path].get.parameters[0].schema);
  const { id, topic } = components.schemas.JobAdd.properties;
  const allows = {
    path: inPath('/v1/jobs/{id}'),
    add: ajv.compile(id),
    topic: ajv.compile(topic),
    topicInPath: inPath('/v1/topics/{topic}/jobs'),
  };
  const odd = ['', '.', '..', '...', ' ', '\n', 'a\n', '\0'];
  const points = [0x7f, 0x80, 0x85, 0x9f, 0xa0, 0x2028, 0xfffe].map((point) => String.fromCodePoint(point));
  const long = [200, 201, 221, 222].flatMap((n) => ['x'.repeat(n), '😀'.repeat(n)]);
  for (const [n, name] of [...odd, LONE, ...points, ...long].entries()) {
    const taken = async (fields: object) =>
      (await job('add', { topic: 'doc', id: `doc-${n}`, body: 1, ...fields })).code !== 'invalid_request';
    // a pattern of JSON Schema cannot say it
    const isAllowed = name !== LONE && allows.add(name);
    expect(await taken({ id: name }), `id ${name}`).toBe(isAllowed);
    if (!isAllowed) {
      const both = [name, `beside ${n}`].map((id) => ({ topic: 'mixed', id, body: 1 }));
      expect(
        (await job('add', { jobs: both })).results.map((r: Json) => r.success),
        name,
      ).toEqual([false, true]);
    }
    const isTopic = name !== LONE && allows.topic(name);
    expect(await taken({ topic: name }), `topic ${name}`).toBe(isTopic);
    expect((await job('pop', { topic: name })).success, `topic ${name}`).toBe(isTopic);
    if (['', '.', '..', LONE].includes(name)) continue;
    expect((await api.get(`/v1/jobs/${at(name)}`)).status !== 422, `path ${name}`).toBe(allows.path(name));
    const jobs = await api.get(`/v1/topics/${at(name)}/jobs`);
    expect(jobs.status !== 422, `path ${name}`).toBe(allows.topicInPath(name));
  }
});

describe('S3.8 jobs put over TCP are jobs over HTTP too', () => {
  test.each(['/', '.hidden', '$(+;/)', 'y'.repeat(200)])('tube %s', async (tube) => {
    const wire = await wireAt(tube);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push(`${tube}:${(await wire.put(`job ${n}`)).split(' ')[1]?.trim()}`);
    const [first = '', second = '', third = ''] = ids;
    expect(await oneJob(first)).toMatchObject({ id: first, topic: tube, state: 'ready' });
    expect(await events(first)).toMatchObject([{ type: 'created' }]);
    expect(await workflow(first)).toMatchObject({ workflowId: `job/${first}` });
    const { token } = await job('pop', { topic: tube });
    expect(await job('touch', { id: first, token })).toMatchObject({ success: true });
    expect(await job('finish', { id: first, token })).toMatchObject({ success: true });
    expect(await job('finish', { jobs: [{ id: second }] })).toMatchObject({ success: true });
    expect(await job('delete', { id: third })).toMatchObject({ success: true });
    expect(await stats(tube)).toMatchObject({ finished: 2, deleted: 1, total: 3 });
  });
});

test(`S3.2 S3.8 ${RUNS} random ids and topics: added, read, popped and finished over HTTP and TCP`, async () => {
  const wire = await wireAt('default');
  // fc.string() takes seconds to be made for all of Unicode
  const character = fc
    .oneof(fc.integer({ min: 0x20, max: 0x10ffff }), fc.integer({ min: 0x20, max: 0x2ff }))
    .map((point) => String.fromCodePoint(point))
    .filter((c) => !/\p{Cc}|\p{Cs}/u.test(c));
  const name = fc
    .array(character, { minLength: 1, maxLength: 200 })
    .map((all) => all.join(''))
    .filter((all) => !/^\.{1,2}$/.test(all));
  const hinted = fc.oneof(name, fc.stringMatching(/^[%/#?+.:\\ ]{3,12}$/));
  const topics = hinted.filter((topic) => NewName.safeParse(topic).success);
  let n = 0;
  await fc.assert(
    fc.asyncProperty(topics, hinted, fc.constantFrom('token', 'id', 'delete'), async (topic, own, end) => {
      const id = `${n++}${[...own].slice(0, 190).join('')}`;
      expect(await job('add', { topic, id, body: own })).toMatchObject({ success: true, id });
      const body = await oneJob(id);
      expect(body).toMatchObject({ id, topic, body: own, state: 'ready' });
      expect(await wire.ask(`peek ${body.number}`)).toContain(`FOUND ${body.number} `);
      expect(Buffer.from(await wire.ask(`stats-job ${body.number}`), 'latin1').toString()).toContain(
        `\ntube: ${JSON.stringify(topic)}\n`,
      );
      const { token } = await job('pop', { topic });
      const command = end === 'delete' ? 'delete' : 'finish';
      expect(await job(command, end === 'token' ? { id, token } : { id })).toMatchObject({ success: true, id });
      expect((await eventTypes(id)).at(-1)).toBe(end === 'delete' ? 'deleted' : 'finished');
      expect(await wire.ask(`peek ${body.number}`)).toBe('NOT_FOUND\r\n');
    }),
    { numRuns: RUNS },
  );
}, 120_000);
