import { bodyOfBytes, MAX_TCP_BYTES } from '../../../domain/jobs.ts';
import { BAD_FORMAT } from '../protocol.ts';
import type { Handlers } from './table.ts';

const CRLF = Buffer.from('\r\n');

export const producing: Handlers<'put' | 'use'> = {
  async put(session, { priority, delay, ttr, bytes, wellFormed }) {
    const { door, reader, using } = session;
    if (bytes > MAX_TCP_BYTES) return (await reader.skip(bytes + CRLF.length)) ? 'JOB_TOO_BIG\r\n' : undefined;
    if (!wellFormed) return BAD_FORMAT;
    session.become('producers');
    const data = await reader.bytes(bytes + CRLF.length);
    if (!data) return undefined;
    if (!data.subarray(bytes).equals(CRLF)) return 'EXPECTED_CRLF\r\n';
    if (door.draining) return 'DRAINING\r\n';
    const body = bodyOfBytes(data.subarray(0, bytes));
    const job = { topic: using.name, delay, TTR: Math.max(1, ttr), body, priority };
    const item = await door.api.services.jobs.put(job, session.holder);
    using.puts++;
    door.puts++;
    return `INSERTED ${item.seq}\r\n`;
  },

  async use(session, { tube }) {
    const before = session.using;
    session.using = await session.door.tubes.hold(tube, 'using');
    session.door.tubes.drop(before, 'using');
    return `USING ${tube}\r\n`;
  },
};
