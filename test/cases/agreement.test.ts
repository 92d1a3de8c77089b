import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { fleissKappa, krippendorffAlpha, type TallyCount } from '../../domain/agreement.ts';
import { dice, numbered } from '../support/client.ts';
import { csvRows } from '../support/csv.ts';
import { askPython, pythonWith } from '../support/python.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const { addCases, claim, court, jurors, stats, voted, votes } = api.cases;

/** Votes by case. */
type Cases = string[][];
interface Found {
  kappa: number | null;
  alpha: number | null;
  /** Of a second library; null also where that isn't there. */
  crowdAlpha: number | null;
}

const tallyOf = (options: string[]): Record<string, number> => {
  const tally: Record<string, number> = {};
  for (const option of options) tally[option] = (tally[option] ?? 0) + 1;
  return tally;
};

/** As statistics keep them: equal ones counted together. */
function distributionOf(cases: Cases): TallyCount[] {
  const by = new Map<string, TallyCount>();
  for (const options of cases) {
    const key = [...options].sort().join();
    const known = by.get(key) ?? { tally: tallyOf(options), cases: 0 };
    by.set(key, { ...known, cases: known.cases + 1 });
  }
  return [...by.values()];
}

function expectClose(found: number | null, wanted: number | null, what: string): void {
  if (wanted === null || found === null) expect(found, what).toBe(wanted);
  else expect(found, what).toBeCloseTo(wanted, 9);
}

/** Cases of `least` to `most` votes each, whose jurors agree with one opinion more or less often. */
function randomCases(seed: number, least: number, most: number): Cases {
  const die = dice(seed);
  const options = numbered(2 + die(4), 'option');
  const doubt = 1 + die(10);
  const any = () => options[die(options.length)] ?? '';
  return Array.from({ length: 2 + die(60) }, () => {
    const opinion = any();
    return Array.from({ length: least + die(most - least + 1) }, () => (die(10) < doubt ? any() : opinion));
  });
}

/** What 83 people said of a thousand items. */
function realCases(): Cases {
  const by = new Map<string, string[]>();
  for (const [item = '', , answer = ''] of csvRows('votes-binary.csv')) by.set(item, [...(by.get(item) ?? []), answer]);
  return [...by.values()];
}

const LIBRARIES = ['krippendorff==0.9.0', 'statsmodels==0.15.0'];
const SECOND = 'crowd-kit==1.4.2';

const even = Array.from({ length: 60 }, (_, n) => randomCases(n, 2 + (n % 8), 2 + (n % 8)));
const uneven = Array.from({ length: 60 }, (_, n) => randomCases(1_000 + n, 1, 1 + (n % 9)));
const real = realCases();
let found: Found[] = [];

beforeAll(() => {
  const cache = inject('cacheDir');
  let python: string;
  try {
    python = pythonWith(cache, 'agreement', [...LIBRARIES, SECOND]);
  } catch {
    // it brings half a gigabyte along, which not every machine has room for
    process.stdout.write(`${SECOND} cannot be installed here\n`);
    python = pythonWith(cache, 'agreement', LIBRARIES);
  }
  const asked = [...even, ...uneven, real].map((cases) => ({ cases }));
  found = askPython(python, join(import.meta.dirname, 'agreement.py'), asked);
}, 600_000);

function expectAlpha(cases: Cases, { alpha, crowdAlpha }: Found, what: string): void {
  expectClose(krippendorffAlpha(distributionOf(cases)), alpha, `alpha of ${what}`);
  if (crowdAlpha !== null) expectClose(crowdAlpha, alpha, `the libraries' alpha of ${what}`);
}

test('S2.8 kappa and alpha of cases with equally many votes are those of the published libraries', () => {
  const answers = found.slice(0, even.length);
  expect(answers.filter(({ kappa }) => kappa !== null).length).toBeGreaterThan(50);
  answers.forEach((answer, n) => {
    const cases = even[n] ?? [];
    expectClose(fleissKappa(distributionOf(cases)), answer.kappa, `kappa of sample ${n}`);
    expectAlpha(cases, answer, `sample ${n}`);
  });
});

test('S2.8 alpha of cases with one, two or many votes is that of the published libraries', () => {
  const answers = found.slice(even.length, even.length + uneven.length);
  expect(answers.filter(({ alpha }) => alpha !== null).length).toBeGreaterThan(40);
  answers.forEach((answer, n) => {
    expectAlpha(uneven[n] ?? [], answer, `sample ${n}`);
  });
});

test('S2.8 kappa and alpha of five thousand real votes are those of the published libraries', () => {
  expect([real.length, real.flat().length]).toEqual([1000, 5000]);
  const answer = found.at(-1);
  if (!answer) throw new Error('the libraries said nothing');
  expectClose(fleissKappa(distributionOf(real)), answer.kappa, 'kappa');
  expectAlpha(real, answer, 'the real votes');
  expect(answer.alpha).toBeGreaterThan(0);
});

test('S2.8 neither is a number where nothing can be said', () => {
  const nothing: Cases[] = [
    [],
    [['a'], ['b']],
    [
      ['a', 'a'],
      ['a', 'a', 'a'],
    ],
    [['a', 'a'], ['b']],
  ];
  for (const cases of nothing) {
    expect(fleissKappa(distributionOf(cases)), JSON.stringify(cases)).toBeNull();
    expect(krippendorffAlpha(distributionOf(cases)), JSON.stringify(cases)).toBeNull();
  }
  const whole = [
    ['a', 'a'],
    ['b', 'b'],
  ];
  expect([fleissKappa(distributionOf(whole)), krippendorffAlpha(distributionOf(whole))]).toEqual([1, 1]);
});

test("S2.8 a court's statistics give both over the votes on its ended cases, hung ones with them", async () => {
  const options = ['x', 'y', 'z'];
  await court('measured', { options, votesToWin: 3, panel: 5, strategy: { decide: 'majority' } });
  expect(await stats('measured')).toMatchObject({ kappa: null, alpha: null });
  const [ids, people] = [numbered(12, 'case'), numbered(8)];
  await jurors('measured', people);
  await addCases('measured', ids);
  const die = dice(7);
  // each goes on until there is nothing left for them
  for (const juror of people)
    for (;;) {
      const { case: handed, lease } = await claim('measured', juror);
      if (!handed) break;
      const leaning = options[Number(handed.id.slice(4)) % 3] ?? '';
      await voted(handed.id, lease.token, die(10) < 5 ? leaning : (options[die(3)] ?? ''));
    }
  const cast = await Promise.all(ids.map(async (id) => (await votes(id)).map((v) => v.option)));
  const now = await stats('measured');
  expect(now).toMatchObject({ open: 0, votes: cast.flat().length });
  expect(now.decided + now.hung).toBe(ids.length);
  expectClose(now.kappa, fleissKappa(distributionOf(cast)), 'kappa');
  expectClose(now.alpha, krippendorffAlpha(distributionOf(cast)), 'alpha');
});
