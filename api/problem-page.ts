import { PROBLEM_HELP } from '../contract/problem-help.ts';
import { PROBLEMS, type ProblemCode } from '../contract/problems.ts';
import { escaped } from './html.ts';

const html = (markdown: string) => escaped(markdown).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function section(code: ProblemCode): string {
  const { status, title } = PROBLEMS[code];
  const { meaning, action, fields } = PROBLEM_HELP[code];
  return `<section id="${code}">
<h2><code>${code}</code> · ${status} · ${escaped(title)}</h2>
<p>${html(meaning)}</p>
<p><strong>What to do:</strong> ${html(action)}</p>${fields ? `\n<p><strong>More fields:</strong> ${html(fields)}</p>` : ''}
</section>`;
}

/** The page to which the `type` of every problem leads; its fragment is the code. */
export const PROBLEM_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Docket errors</title>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes.</p>
${(Object.keys(PROBLEMS) as ProblemCode[]).map(section).join('\n')}
</html>`;
