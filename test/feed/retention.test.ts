import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test, vi } from 'vitest';
import { startExport } from '../support/child.ts';
import { eventually } from '../support/client.ts';
import { arrived, follow, wholeFeed } from '../support/feed.ts';
import { age, byHand, clear } from '../support/retention.ts';
import { startTestSystem } from '../support/system.ts';
import { addTask, addTemplate, completed, deleteTask, handed } from '../support/tasks.ts';
import { add } from '../support/tickets.ts';

const system = await startTestSystem();
const { api, sql, running } = system;
await byHand(system);
await addTemplate(api, 'plain');

/** A task from its making to its end. */
async function done(id: string): Promise<void> {
  await addTask(api, { id, executor: `uid_${id}` });
  const { logId } = await handed(api, id, { waitSeconds: 20 });
  await completed(api, id, logId);
}

/** The same, and everything of it cleared. */
async function cleared(id: string): Promise<void> {
  await done(id);
  await deleteTask(api, id);
  await wholeFeed(api);
  await age(system, `${id}%`, 1_000);
  // the occurrence, and the task itself
  await clear(system, 2);
  expect(await sql(`select 1 from event where kind = 'task' and item_id like '${id}/%'`)).toEqual([]);
}

test('S4.8 S4.10 what retention has cleared is out of the feed, which goes on behind it', async () => {
  await add(api, 'q', { id: 'first' });
  await cleared('middle');
  await add(api, 'q', { id: 'second' });
  await cleared('end');
  const lines = await wholeFeed(api);
  expect(lines.map((line) => line.itemId)).toEqual(['first', 'second']);
  expect(lines[1]?.seq).toBeGreaterThan(3);
  expect(await sql(`select count(*)::int as n from feed`)).toEqual([{ n: 2 }]);

  // all that was behind its position is gone: it waits, instead of looking for it again and again
  const read = vi.spyOn(running.runtime.feed, 'read');
  const followed = await follow(api, `after=${lines[1]?.seq}`);
  await eventually(async () => followed.text() !== '');
  expect(read.mock.calls.length).toBeLessThan(20);
  await add(api, 'q', { id: 'third' });
  await arrived(followed, 1);
  expect(followed.lines[0]?.itemId).toBe('third');
});

test('S4.8 S4.10 an export goes on although the last event that it has was cleared', async () => {
  const file = join(mkdtempSync(join(inject('dir'), 'retention-')), 'events.ndjson');
  const run = async () => {
    const child = startExport(['--from', api.url, '--to', 'file', '--file', file]);
    expect([await child.exited, child.output()]).toEqual([0, expect.any(String)]);
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  };
  await done('last');
  const before = await run();
  expect(JSON.parse(before.at(-1) ?? '').kind).toBe('task');
  await age(system, 'last%', 1_000);
  await clear(system, 2);
  expect(await run()).toEqual(before);
  await add(api, 'q', { id: 'after' });
  const after = await run();
  expect(after).toHaveLength(before.length + 1);
  expect(JSON.parse(after.at(-1) ?? '').itemId).toBe('after');
});
