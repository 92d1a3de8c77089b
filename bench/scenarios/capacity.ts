import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Costs, idleCost, type Sizes } from '../capacity/costs.ts';
import { factsOf } from '../capacity/facts.ts';
import { Gate } from '../capacity/gate.ts';
import { KINDS, ticket } from '../capacity/kinds.ts';
import { Meter } from '../capacity/meter.ts';
import { Mix } from '../capacity/mix.ts';
import {
  COMPONENTS,
  type Cost,
  cpuOf,
  demandOf,
  highestRate,
  type Measured,
  messageCpu,
  type Rates,
  type Site,
} from '../capacity/model.ts';
import * as rows from '../capacity/rows.ts';
import { publishing } from '../capacity/slots.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { short } from '../stats.ts';
import { until } from './steady.ts';

const CORES = ['0', '1'];
/** What followers hold back beside callers is what this part wants to pay for. */
const UNHURRIED = { publishIdlePerSecond: 10_000, publishBusyPerSecond: 10_000 };
const SETTLE_MS = 12_000;

interface Size extends Sizes {
  warmUp: number;
  /** Messages of each sort for a follower to publish. */
  backlog: number;
  warm: number;
  seconds: number;
}

/**
 * What each transition of each kind costs, measured one at a time; what the model makes of that for two API processes
 * and two workers on two cores; and then that run (scenario 18).
 */
export async function capacity(lab: Lab, report: Report): Promise<void> {
  const size: Size = lab.quick
    ? { light: 15, busy: 30, idleSeconds: 3, warmUp: 6, backlog: 150, warm: 12, seconds: 10 }
    : { light: 120, busy: 400, idleSeconds: 18, warmUp: 100, backlog: 400, warm: 25, seconds: 75 };
  const meter = new Meter(lab);
  const measured = await costs(lab, report, meter, size);
  const site: Site = { pools: [{ cores: CORES.length, components: [...COMPONENTS] }], pairs: CORES.length };
  const shares = Object.fromEntries(KINDS.map(({ kind, share }) => [kind.name, share]));
  const most = highestRate(measured, site, shares);
  const highest = predictionOf(measured, site, shares, most.rate);
  const half = predictionOf(measured, site, shares, highest.rate / 2);
  lab.say(`  predicted before the run: ${short(most.rate)} lives/s, limited by ${most.limit}`);
  await mixedRuns(lab, report, meter, size, { highest: { ...highest, limit: most.limit }, half });
}

/** One API process and one worker, one kind after the other. */
async function costs(lab: Lab, report: Report, meter: Meter, size: Size): Promise<Measured> {
  const servers = await idleCost(meter, size.idleSeconds);
  const docket = await lab.docket({}, UNHURRIED);
  [meter.apis, meter.workers] = [[docket.api.pid], [docket.worker.pid]];
  const gate = new Gate(lab);
  try {
    const warming = new Costs(lab, meter, gate, docket.url, servers);
    await warming.warmUp(size.warmUp);
    await sleep(SETTLE_MS);
    const idle = await idleCost(meter, size.idleSeconds);
    const { kinds, kept } = await new Costs(lab, meter, gate, docket.url, idle).measure(size);
    const four = await publishing(lab, meter, gate, docket.url, size.backlog, false);
    const one = await publishing(lab, meter, gate, docket.url, size.backlog, true);
    const told = (kinds[ticket.name] ?? []).map(messageCpu);
    const cpu = told.reduce((sum, seconds) => sum + seconds, 0) / told.length;
    const slot = { seconds: 1 / one.rate, cpu, busy: one.busy, cores: cpus().length };
    const measured = { kinds, servers, pair: less(idle, servers), slot };
    rows.costs(report, measured, kept);
    rows.publishing(report, four, one);
    for (const { kind } of KINDS) if (kind.workflow) rows.facts(report, kind.name, await factsOf(lab, kind.workflow));
    return measured;
  } finally {
    await gate.close();
    await docket.stop();
  }
}

/** What the model says of a rate of lives in these shares. */
function predictionOf(measured: Measured, site: Site, shares: Rates, rate: number): rows.Prediction {
  const whole = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const rates = Object.fromEntries(Object.entries(shares).map(([kind, share]) => [kind, (rate * share) / whole]));
  return { rate, demand: demandOf(measured, site, rates) };
}

/** Two API processes and two workers, a pair on each core; the servers and the callers on both. */
async function mixedRuns(
  lab: Lab,
  report: Report,
  meter: Meter,
  size: Size,
  { highest, half }: { highest: rows.Highest; half: rows.Prediction },
): Promise<void> {
  const pairs = await Promise.all(CORES.map(() => lab.docket({}, UNHURRIED)));
  meter.apis = pairs.map(({ api }) => api.pid);
  meter.workers = pairs.map(({ worker }) => worker.pid);
  for (const [n, { api, worker }] of pairs.entries()) meter.pin(CORES[n] ?? '0', api.pid, worker.pid);
  meter.pin(CORES.join(','), ...meter.postgres, lab.temporalPid, process.pid);
  const followers = 'select count(distinct owner)::integer as n from log_shard';
  await until(async () => (await lab.sql<{ n: number }>(followers))[0]?.n === CORES.length);
  const urls = pairs.map(({ url }) => url);
  const mix = await Mix.open(meter, () => new Gate(lab), urls);
  try {
    rows.highest(report, highest, await mix.closedLoop(size), CORES.length);
    await sleep(SETTLE_MS);
    rows.half(report, half, await mix.openLoop(half.rate, size), CORES.length);
  } finally {
    mix.close();
    await Promise.all(pairs.map((pair) => pair.stop()));
  }
}

const less = (a: Cost, b: Cost): Cost => ({
  cpu: cpuOf((component) => Math.max(0, a.cpu[component] - b.cpu[component])),
  wal: Math.max(0, a.wal - b.wal),
});
