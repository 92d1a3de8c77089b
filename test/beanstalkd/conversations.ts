import { expect } from 'vitest';
import type { Both, Pair } from './both.ts';
import type { Lines } from './lines.ts';

export interface Conversation {
  a: Pair;
  b: Pair;
}

/** What beanstalkd's own test asks with two connections or a clock (testserv.c, by its names), and a few more. */
export const conversations: Record<string, (c: Conversation) => Promise<void>> = {
  async pause({ a }) {
    await a.put('x', { ttr: 0 });
    const start = performance.now();
    expect(await a.ask('pause-tube default 1')).toBe('PAUSED\r\n');
    expect(await a.ask('reserve')).toContain('RESERVED {1} 1');
    expect(performance.now() - start).toBeGreaterThan(990);
  },
  async '2cmdpacket'({ a }) {
    a.send('use a\r\nuse b');
    expect([await a.reply(), await a.reply()]).toEqual(['USING a\r\n', 'USING b\r\n']);
  },
  async too_big({ a }) {
    a.send(`put 0 0 0 65536\r\n${'delete 9999\r\n'.repeat(5041)}xxx\r\nput 0 0 0 1\r\nx`);
    expect([await a.reply(), await a.reply()]).toEqual(['JOB_TOO_BIG\r\n', 'INSERTED {1}\r\n']);
  },
  async delete_reserved_by_other({ a, b }) {
    await a.put('a');
    await b.ask('reserve');
    expect(await a.ask('delete {1}')).toBe('NOT_FOUND\r\n');
  },
  async delayed_to_ready({ a }) {
    await a.put('', { delay: 1 });
    expect(await a.ask('stats-tube default')).toMatch(/-ready: 0\n[\s\S]*-delayed: 1\n/);
    expect(await a.until('stats-tube default', /-ready: 1\n/)).toMatch(/-delayed: 0\n/);
  },
  async reserve_with_timeout_2conns({ a, b }) {
    await a.ask('watch foo');
    a.send('reserve-with-timeout 1');
    await b.ask('watch foo');
    expect(await a.reply()).toBe('TIMED_OUT\r\n');
  },
  async deadline_soon_ends_a_wait({ a, b }) {
    await a.put('a', { ttr: 2 });
    await a.ask('reserve');
    const start = performance.now();
    expect(await a.ask('reserve')).toBe('DEADLINE_SOON\r\n');
    expect(performance.now() - start).toBeGreaterThan(800);
    await b.put('b');
    expect(await a.ask('reserve')).toContain('RESERVED {2}');
  },
  async reserve_job_ttr_deadline_soon({ a }) {
    await a.put('a', { delay: 5, ttr: 1 });
    expect(await a.ask('reserve-job {1}')).toContain('RESERVED {1} 1');
    expect(await a.ask('reserve-with-timeout 1')).toBe('DEADLINE_SOON\r\n');
    expect(await a.ask('stats-job {1}')).toContain('\nstate: reserved\n');
    expect(await a.until('stats-job {1}', /state: ready/)).toMatch(/timeouts: 1\n/);
  },
  close_releases_job: (c) => releases(c, async (b) => b.close()),
  quit_releases_job: (c) => releases(c, async (b) => void (await b.ask('quit'))),
  async half_close_ends_a_wait({ b }) {
    b.send('reserve');
    b.halfClose();
    expect(await b.reply()).toBe('TIMED_OUT\r\n');
    expect(await b.reply()).toBe('(closed)');
  },
  async half_close_with_a_ready_job({ a, b }) {
    await a.put('a');
    b.send('list-tube-used\r\nreserve');
    b.halfClose();
    expect(await b.reply()).toBe('USING default\r\n');
    expect(await b.reply()).toContain('RESERVED {1}');
    expect(await b.reply()).toBe('(closed)');
    expect(await a.ask('stats-job {1}')).toMatch(/state: ready\n[\s\S]*timeouts: 0\nreleases: 0\n/);
  },
  async unpause_tube({ a, b }) {
    await a.put('', { ttr: 0 });
    await a.ask('pause-tube default 86400');
    b.send('reserve');
    expect(await a.ask('pause-tube default 0')).toBe('PAUSED\r\n');
    expect(await b.reply()).toContain('RESERVED {1} 0');
  },
  async a_blocked_reserve_holds_back_what_follows({ a, b }) {
    b.send('reserve\r\nlist-tube-used\r\ndelete {1}');
    await a.put('a');
    expect(await b.reply()).toContain('RESERVED {1}');
    expect(await b.reply()).toBe('USING default\r\n');
    expect(await b.reply()).toBe('NOT_FOUND\r\n');
  },
  expected_crlf: async ({ a }) => {
    a.send('put 0 0 1 1\r\nabc\r\nlist-tube-used');
    for (const reply of ['EXPECTED_CRLF\r\n', 'UNKNOWN_COMMAND\r\n', 'USING default\r\n'])
      expect(await a.reply()).toBe(reply);
  },
};

async function releases({ a, b }: Conversation, leave: (b: Pair) => Promise<void>): Promise<void> {
  b.send('reserve-with-timeout 1');
  await a.put('a', { ttr: 100 });
  expect(await b.reply()).toContain('RESERVED {1} 1');
  expect(await a.ask('stats-job {1}')).toContain('\nstate: reserved\n');
  await leave(b);
  expect(await a.ask('reserve-with-timeout 1')).toContain('RESERVED {1} 1');
  expect(await a.ask('stats-job {1}')).toMatch(/reserves: 2\ntimeouts: 0\nreleases: 0\n/);
}

export async function converse(both: Both, conversation: Lines | ((c: Conversation) => Promise<void>)): Promise<void> {
  both.begin();
  const c = { a: await both.open(), b: await both.open() };
  try {
    if (typeof conversation === 'function') await conversation(c);
    else
      for (const step of conversation) {
        const [line, reply = ''] = typeof step === 'string' ? [step] : step;
        expect(await c.a.ask(line), line.slice(0, 80)).toContain(reply);
      }
  } finally {
    c.a.close();
    c.b.close();
    await both.clean();
  }
}
