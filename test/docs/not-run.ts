/** How commands begin that no test can paste, and why. A block that is marked `not run` has no others. */
const NOT_RUN: Record<string, string> = {
  'npm ci': 'installs what the tests run from',
  'npm start': 'starts what the other blocks are run against; test/faults/npm-start.test.ts runs it',
  '(DOCKET_\\w+=\\S+ )?PORT=0 npm start': 'the same where no one calls it',
  'DOCKET_DATA=\\S+ npx docket': 'is for a data folder of the reader; test/moves runs it on databases',
  'DOCKET_\\w+=\\S+ npm start': 'the same with a setting',
  'BEANSTALKD_PORT=\\S+ npm start': 'the same with a setting',
  'npm (test|run (check|demo))': 'takes minutes',
  'npm run storm -- .*--minutes': 'takes as long as it says',
  'npm (pack|install)': 'needs a project of the reader',
  'pip install': 'needs a project of the reader',
  'composer (require|config)': 'needs a project of the reader',
  'cp \\.env\\.example': 'is for Docker Compose',
  'python3 examples/purchase_workflow': 'waits for a person; test/examples runs it',
  'temporal operator': 'is for a cluster of the reader',
  'docker compose': 'needs Docker',
  kubectl: 'needs a cluster',
  'npm run build': 'takes a minute, and what the tests run would be compiled',
  sudo: 'needs a host with systemd',
  zcat: 'reads an archive of the reader',
  'npx docket export .*@(warehouse|search)': 'names servers of the reader',
  'export (OLD|APP)_DATABASE_URL=': 'names a database of the reader',
};

const begins = new RegExp(`^(${Object.keys(NOT_RUN).join('|')})`);

/** The commands of a block that cannot be pasted, and those that can. */
export function partsOf(text: string): { able: string[]; unable: string[] } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return { able: lines.filter((line) => !begins.test(line)), unable: lines.filter((line) => begins.test(line)) };
}
