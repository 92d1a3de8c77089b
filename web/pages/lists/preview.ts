/** Characters of a preview. */
const MOST = 120;
/** They could make a line read as another one. */
const HIDDEN = /[\p{Cc}\p{Cf}\s]+/gu;

/** The first texts of a body, in one line. */
export function preview(body: unknown): string {
  const texts: string[] = [];
  let length = 0;
  const take = (value: unknown): void => {
    if (length > MOST || value === null || value === undefined) return;
    if (typeof value === 'object') {
      for (const one of Object.values(value)) take(one);
      return;
    }
    const text = String(value).slice(0, MOST).replaceAll(HIDDEN, ' ').trim();
    texts.push(text);
    length += text.length;
  };
  take(body);
  const line = texts.join(' · ');
  return line.length > MOST ? `${line.slice(0, MOST)}…` : line;
}

/** What a decision says in a word, as the API's filter `verdict` has it; all of one that has no verdict. */
export function verdictIn(decision: unknown): string {
  const verdict =
    typeof decision === 'object' && decision !== null && 'verdict' in decision ? decision.verdict : decision;
  return typeof verdict === 'string' ? verdict : preview(verdict);
}
