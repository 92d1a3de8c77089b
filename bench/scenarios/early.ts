import type { Ruled } from '../../domain/courts.ts';
import { csvRows } from '../../test/support/csv.ts';
import { difference, type Judged, judgeAll } from '../courts/simulator.ts';
import { dice } from '../dice.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { short } from '../stats.ts';

/** First to nine of five options can take so many votes; who voted is none of those whose word is taken as true. */
const MOST_VOTERS = 41;

type Answers = Map<string, { person: string; answer: string }[]>;
type Rules = Pick<Ruled, 'decide'> & Partial<Ruled>;

/** The first answer of each person to each item. */
function answersIn(file: string): Answers {
  const answers: Answers = new Map();
  for (const [item = '', person = '', answer = ''] of csvRows(file)) {
    const given = answers.get(item) ?? [];
    if (!given.some((one) => one.person === person)) answers.set(item, [...given, { person, answer }]);
  }
  return answers;
}

function shuffled<T>(all: readonly T[], roll: () => number): T[] {
  const left = [...all];
  return all.map(() => left.splice(Math.floor(roll() * left.length), 1)[0] as T);
}

const mostFrequent = (answers: string[]): string =>
  [...new Set(answers)].reduce((best, one) => {
    const count = (option: string) => answers.filter((answer) => answer === option).length;
    return count(one) > count(best) ? one : best;
  });

/** Web sites, 41 random raters of each as voters; true is what most of the others say. */
const sites = (answers: Answers, roll: () => number): Judged[] =>
  shuffled([...answers], roll).map(([id, given]) => {
    const order = shuffled(given, roll);
    const truth = mostFrequent(order.slice(MOST_VOTERS).map(({ answer }) => answer));
    return { id, votes: order.slice(0, MOST_VOTERS), truth };
  });

/** Questions whose answer is known, all five voters in random order. */
function questions(answers: Answers, roll: () => number): Judged[] {
  const truth = new Map(csvRows('votes-binary-truth.csv').map(([item = '', answer = '']) => [item, answer]));
  return shuffled([...answers], roll).map(([id, given]) => ({
    ...{ id, votes: shuffled(given, roll) },
    truth: truth.get(id) ?? '',
  }));
}

const SETS: { what: string; file: string; options: string[]; items: typeof sites; courts: [string, Rules][] }[] = [
  {
    ...{ what: '496 web sites', file: 'moderation-ratings.csv', options: ['G', 'P', 'R', 'X', 'B'], items: sites },
    courts: [
      ['first to 9', { decide: 'first-to', votes_to_win: 9 }],
      ['first to 5', { decide: 'first-to', votes_to_win: 5 }],
      ['margin 3, maxVotes 41', { decide: 'margin', margin: 3, max_votes: 41 }],
      ['margin 4, maxVotes 41', { decide: 'margin', margin: 4, max_votes: 41 }],
      ['margin 5, maxVotes 41', { decide: 'margin', margin: 5, max_votes: 41 }],
      ['posterior 0.9, maxVotes 41', { decide: 'posterior', probability: 0.9, max_votes: 41 }],
      ['posterior 0.99, maxVotes 41', { decide: 'posterior', probability: 0.99, max_votes: 41 }],
      ['posterior 0.999, maxVotes 41', { decide: 'posterior', probability: 0.999, max_votes: 41 }],
    ],
  },
  {
    ...{ what: '1,000 questions', file: 'votes-binary.csv', options: ['0', '1'], items: questions },
    courts: [
      ['first to 3', { decide: 'first-to', votes_to_win: 3 }],
      ['margin 2, maxVotes 5', { decide: 'margin', margin: 2, max_votes: 5 }],
      ['posterior 0.75, maxVotes 5', { decide: 'posterior', probability: 0.75, max_votes: 5 }],
      ['posterior 0.9, maxVotes 5', { decide: 'posterior', probability: 0.9, max_votes: 5 }],
    ],
  },
];

const PLAIN = {
  panel: null,
  margin: null,
  probability: null,
  quality: null,
  max_votes: null,
  votes_to_win: 9,
  pick: 'oldest',
};

const PERCENT = 100;
const span = ({ mean, low, high }: ReturnType<typeof difference>, unit: string, scale = PERCENT) =>
  `${short(mean * scale)} ${unit} (${short(low * scale)} to ${short(high * scale)})`;
const mean = (all: number[]) => all.reduce((sum, value) => sum + value, 0) / all.length;

/** Of each item, over all orders: votes, and the shares of orders in which it was right, and hung. */
interface Sums {
  votes: number[];
  right: number[];
  hung: number[];
}

/** Votes saved, and accuracy lost, by courts that decide early (scenario 24). */
export async function early({ quick }: Lab, report: Report): Promise<void> {
  const orders = quick ? 3 : 30;
  for (const { what, file, options, items, courts } of SETS) {
    const answers = answersIn(file);
    const place = new Map([...answers.keys()].map((id, n) => [id, n]));
    const zeros = () => Array.from({ length: answers.size }, () => 0);
    const sums = courts.map((): Sums => ({ votes: zeros(), right: zeros(), hung: zeros() }));
    const roll = dice(23);
    for (let order = 0; order < orders; order++) {
      const drawn = items(answers, roll);
      for (const [c, [, rules]] of courts.entries())
        for (const { id, votes, right, hung } of judgeAll({ ...PLAIN, options, ...rules }, drawn)) {
          const [n, to] = [place.get(id) ?? 0, sums[c] as Sums];
          to.votes[n] = (to.votes[n] ?? 0) + votes / orders;
          to.right[n] = (to.right[n] ?? 0) + Number(right) / orders;
          to.hung[n] = (to.hung[n] ?? 0) + Number(hung) / orders;
        }
    }
    const [base] = sums as [Sums];
    for (const [c, [name]] of courts.entries()) {
      const { votes, right, hung } = sums[c] as Sums;
      const figure = `${short(mean(votes))} votes, ${short(mean(right) * PERCENT)} % right, ${short(mean(hung) * PERCENT)} % hung`;
      const less = (key: 'votes' | 'right', mine: number[]) =>
        difference(
          base[key].map((value, n) => value - (mine[n] ?? 0)),
          roll,
        );
      const saved = span(less('votes', votes), '% of the votes saved', PERCENT / mean(base.votes));
      const lost = span(less('right', right), 'points of accuracy lost');
      report.add({ what: `${what}: ${name}`, figure, ...(c > 0 && { rival: `${saved}, ${lost}` }) });
    }
  }
}
