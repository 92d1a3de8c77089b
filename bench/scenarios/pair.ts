import { contentHash, newToken } from '../../services/shared/tokens.ts';
import { forgetUnpublished, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { openPgBoss, PG_BOSS } from '../rivals/pgboss.ts';
import { seedTickets } from '../seed.ts';
import { median, ms, repeat, short } from '../stats.ts';
import { echoOf } from './api-cpu.ts';
import { round, shallow } from './claims.ts';

const QUEUE = 'pair';

/** Milliseconds a pair, by round. */
type Took = Record<'whole' | 'alone' | 'bare' | 'statements' | 'boss', number[]>;

/** Where the time of claim → decide goes when one caller does nothing else (scenario 17). */
export async function pair(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, seconds] = lab.quick ? [40_000, 3, 3] : [150_000, 5, 5];
  await seedTickets(lab, QUEUE, waiting);
  const rival = await openPgBoss(lab);
  const docket = await lab.docket();
  const echo = await echoOf(lab, docket.url, QUEUE);
  const took: Took = { whole: [], alone: [], bare: [], statements: [], boss: [] };
  const keep = (what: keyof Took, { rate }: { rate: number }) => took[what].push(1000 / rate);
  try {
    for (const server of [docket.api, echo]) await round(server.url, QUEUE, 1, 3);
    for (let done = 0; done < rounds; done++) {
      keep('whole', await round(docket.url, QUEUE, 1, seconds));
      await docket.aside(async () => {
        keep('alone', await round(docket.url, QUEUE, 1, seconds));
        keep('bare', await round(echo.url, QUEUE, 1, seconds));
        keep('statements', await statements(lab, seconds));
        keep('boss', await shallow(rival, 1, seconds));
        await forgetUnpublished(lab);
      });
    }
  } finally {
    await docket.stop();
    await echo.stop();
    await rival.stop();
  }
  write(report, took);
}

/** The two statements of a pair by a process of its own over one connection: no HTTP, no checks, no views. */
function statements({ db }: Lab, seconds: number) {
  const result = JSON.stringify({ verdict: 'keep' });
  const hash = contentHash({ verdict: 'keep' });
  const pairOnce = async () => {
    const token = newToken();
    const who = { persons: ['r0'], tokens: [token], count: 1, skills: [], resume: true };
    const [ticket] = await db.move('claim', { kind: 'ticket', queue: QUEUE, ...who });
    if (!ticket) return false;
    const settled = { ids: [ticket.id], tokens: [token], results: [result], hashes: [hash] };
    const unused = { subjects: [null], formVersions: [null], seen: [null], synced: false };
    await db.move('settle_items', { kind: 'ticket', ...settled, ...unused });
    return true;
  };
  return repeat([pairOnce], seconds);
}

function write(report: Report, took: Took): void {
  const all = (part: keyof Took) => median(took[part]);
  const line = (what: string, part: keyof Took) =>
    report.add({
      what,
      figure: `${ms(all(part))} a pair`,
      rival: `${PG_BOSS} from short queues: ${ms(all('boss'))}`,
      ratio: all('boss') / all(part),
    });
  line('claim → decide, 1 caller, Temporal and the worker beside', 'whole');
  line('the same with the worker stopped: nothing is published', 'alone');
  line('its two statements alone, over one connection', 'statements');
  line('two calls of Hono’s bare echo, the same bodies', 'bare');
  const floor = all('statements') + all('bare');
  report.add({
    what: 'the two statements and the two echoes together, the floor of this design',
    figure: `${ms(floor)} a pair, ${short((100 * floor) / all('whole'))} % of the whole`,
    rival: `${PG_BOSS}: ${ms(all('boss'))}`,
    ratio: all('boss') / floor,
  });
}
