import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** What secrets look like; where there is a group, it is the secret in it. */
const PATTERNS: Record<string, RegExp> = {
  'a private key': /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/g,
  'an access key of AWS': /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  'a token of GitHub': /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{40,})/g,
  'a token of GitLab': /\bglpat-[\w-]{20,}/g,
  'a token of Slack': /\bxox[abprs]-[\w-]{10,}/g,
  'a key of Stripe': /\b[rs]k_live_\w{16,}/g,
  'a key of Google': /\bAIza[\w-]{35}/g,
  'a key of a language model': /\bsk-[\w-]{20,}/g,
  'a token of npm': /\bnpm_[A-Za-z0-9]{36}\b/g,
  'a token of PyPI': /\bpypi-[\w-]{50,}/g,
  'a JSON web token': /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g,
  'an API key of Docket': /\bdocket_[0-9a-f]{12}_[\w-]{43}/g,
  'a secret of a callback': /\bwhsec_[A-Za-z0-9+/]{32,}/g,
  'a password in a URL': /\b[a-z][a-z+]+:\/\/[^\s:@/'"`$<>{}]+:([^\s@/'"`$<>{}]{3,})@/g,
  'a password or key': /(?:password|passwd|secret|api[_-]?key)["']?\s*[:=]\s*["']([A-Za-z0-9+/_-]{24,})["']/gi,
};

/** Files that hold nothing else. */
const SECRET_FILES = /(^|\/)(\.env|\.npmrc|\.netrc|\.pgpass|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|jks))$/;
const NOT_TEXT = /\.(png|ico|woff2?|gz|br)$/;

/** Of documents and tests: they open nothing. */
const EXAMPLES = new Set([
  ...['password', 'secret', 'hunter2', 'pass', 'p%40ss'],
  'docket_9f3c1a7be204_Zk1uT3xQm8rVb5cLy2pWd7sNf0hJg4aEi6oKtUvXzMw',
  ...['whsec_c3RvcnkAc3RvcnkAc3RvcnkAc3RvcnkA', 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0'],
  'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY',
]);

/** What in a text looks like a secret, by line. The secret itself is not repeated: what a check prints is kept in logs. */
export function secretsIn(path: string, text: string): string[] {
  return Object.entries(PATTERNS).flatMap(([what, pattern]) =>
    [...text.matchAll(pattern)]
      .filter(([all, secret = all]) => !EXAMPLES.has(secret))
      .map(({ index }) => `${path}:${text.slice(0, index).split('\n').length} looks like ${what}`),
  );
}

/** Secrets in files that git tracks or would track. */
export function checkSecrets(): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).split('\0');
  const files = [...new Set(listed)].filter((path) => path !== '' && existsSync(path));
  return files.flatMap((path) => {
    if (SECRET_FILES.test(path)) return [`${path} is a file for secrets`];
    return NOT_TEXT.test(path) ? [] : secretsIn(path, readFileSync(path, 'utf8'));
  });
}
