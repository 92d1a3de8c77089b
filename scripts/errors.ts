import { writeFileSync } from 'node:fs';
import { PROBLEM_HELP } from '../contract/problem-help.ts';
import { PROBLEMS, type ProblemCode } from '../contract/problems.ts';
import { committed, differences } from './architecture/drift.ts';

const FILE = new URL('../docs/errors.md', import.meta.url);
const HEADER = `# Errors

<!-- Written by \`npm run errors\` from contract/problem-help.ts; \`npm run check\` fails when it is not what that makes. -->

Every error of the API is \`application/problem+json\` ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)):

\`\`\`json
{
  "type": "/docs/errors#not_found",
  "title": "There is no such thing",
  "status": 404,
  "code": "not_found",
  "detail": "there is no ticket report-1",
  "requestId": "5d2c8e0a-6f0f-4b7e-9c57-0a6a1f3f8a11"
}
\`\`\`

- **\`code\`** is what a program looks at. Codes and statuses are fixed; titles and details are for people and may change.
- **\`type\`** is relative to the server that answered, which explains the code there.
- **\`requestId\`** is also the answer's header \`x-request-id\` and stands in the server's log.
- **Repeat** 429 and 503 after the seconds in \`Retry-After\`, and calls that got no answer at all. A repeat does nothing twice: an
  add is known by its id or \`Idempotency-Key\`, a decision by its token, and a claim hands out again what you hold. Only a job
  whose pop was not answered may stay reserved until its TTR is over. Other errors stay the same however often you repeat the call.
- **Jobs** are different: \`POST /v1/jobs\` answers 200 with \`{success: false, error, id, value}\`, and with the same \`code\` and
  fields, where the command was understood and refused. 400, 401, 403, 413, 429 and 503 have the same shape.
- **Batches** that add answer 200 with a result for each entry, in order: \`httpStatus\`, \`code\` and \`detail\` of its own. Calls that end a list of
  items do so, too, but where an entry is malformed they are refused as a whole, with its path.`;

function section(code: ProblemCode): string {
  const { status, title } = PROBLEMS[code];
  const { meaning, action, fields } = PROBLEM_HELP[code];
  const lines = [`## ${code}`, `**${status}** · ${title}.`, meaning, `**What to do:** ${action}`];
  return [...lines, ...(fields ? [`**More fields:** ${fields}.`] : [])].join('\n\n');
}

const errorsText = () => `${[HEADER, ...(Object.keys(PROBLEMS) as ProblemCode[]).map(section)].join('\n\n')}\n`;

/** What is different between the committed document and the codes. */
export const checkErrors = (): string[] => differences('docs/errors.md', committed(FILE), errorsText());

if (import.meta.filename === process.argv[1]) {
  writeFileSync(FILE, errorsText());
  console.log('docs/errors.md is written');
}
