import { pauseTopic } from '../../../db/jobs.ts';
import { BAD_FORMAT, isTube } from '../protocol.ts';
import { list, NOT_FOUND } from '../replies.ts';
import { jobStatsReply, statsReply, tubeStatsReply } from '../stats.ts';
import type { Handlers } from './table.ts';

export const looking: Handlers<
  'stats' | 'stats-job' | 'stats-tube' | 'list-tubes' | 'list-tube-used' | 'list-tubes-watched' | 'pause-tube' | 'quit'
> = {
  stats: ({ door }) => statsReply(door),
  'stats-job': ({ door }, { number }) => jobStatsReply(door, number),
  'stats-tube': ({ door }, { tube }) => tubeStatsReply(door, tube),
  'list-tubes': async ({ door }) => list(await door.tubes.names()),
  'list-tube-used': ({ using }) => `USING ${using.name}\r\n`,
  'list-tubes-watched': ({ watching }) => list(watching.map((t) => t.name)),

  async 'pause-tube'({ door }, { tube, seconds }) {
    if (!isTube(tube)) return BAD_FORMAT;
    const found = await door.tubes.find(tube);
    if (!found) return NOT_FOUND;
    await door.api.services.queues.ensure('job', tube);
    await pauseTopic(door.api.runtime.db, tube, seconds);
    found.pauses++;
    door.wakeAfterPause(tube, seconds);
    return 'PAUSED\r\n';
  },

  quit: () => undefined,
};
