import { script } from '../../scripts/usage.ts';
import { openLab } from '../lab.ts';
import { openTarget } from './attack.ts';
import { bodies } from './bodies.ts';
import { rules } from './rules.ts';
import { unread } from './unread.ts';

const attacks = { bodies, unread, rules };

const program = script(
  'npm run attacks --',
  'Attacks a Docket on servers of its own, and fails where an attack takes more from other callers than it may.',
).option('--only <attacks>', `some of them, by commas: ${Object.keys(attacks).join(', ')}`);
const only = program.parse().opts<{ only?: string }>().only?.split(',');

const lab = await openLab(true, (line) => console.log(line));
try {
  for (const [name, attack] of Object.entries(attacks)) {
    if (only && !only.includes(name)) continue;
    // a process of its own for each: the one before has left its memory behind
    const target = await openTarget(lab);
    const { figures, broken } = await attack(target);
    console.log(`${name}: ${JSON.stringify(figures)}${broken.length > 0 ? ` BROKEN: ${broken.join(', ')}` : ''}`);
    if (broken.length > 0) process.exitCode = 1;
    await target.stop();
  }
} finally {
  await lab.stop();
}
