import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROBLEM_HELP } from '../../contract/problem-help.ts';
import { PROBLEMS, type ProblemCode } from '../../contract/problems.ts';
import { Problem } from '../../services/shared/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const codes = Object.keys(PROBLEMS) as ProblemCode[];

/** What a reader sees of a piece of HTML. */
const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

test('the type of a problem is where the server that answered explains it', async () => {
  const { body } = await api.get('/v1/tickets/none');
  expect(body).toMatchObject({ code: 'not_found', type: '/docs/errors#not_found' });
  expect((await api.get(body.type)).status).toBe(200);
});

test.each(codes)('the type of %s leads to what it means and what to do', async (code) => {
  const { type } = new Problem(code, 'detail').toJSON('request');
  const url = new URL(type, api.url);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  const page = await response.text();
  const section = new RegExp(`<section id="${url.hash.slice(1)}">([\\s\\S]*?)</section>`).exec(page)?.[1] ?? '';
  const text = textOf(section);
  const { meaning, action } = PROBLEM_HELP[code];
  for (const said of [code, String(PROBLEMS[code].status), meaning, action])
    expect(text).toContain(said.replaceAll('`', ''));
});

test('docs/errors.md has exactly the codes that there are, with their statuses', () => {
  const page = readFileSync('docs/errors.md', 'utf8');
  const sections = [...page.matchAll(/^## (\w+)\n\n\*\*(\d+)\*\*/gm)].map(([, code, status]) => [code, Number(status)]);
  expect(sections).toEqual(codes.map((code) => [code, PROBLEMS[code].status]));
});
