import type { Locator, Page } from 'playwright-core';

/** A page, or a part of it. */
type Part = Page | Locator;

/** Values by the labels of their fields: a text, of a list the text of an option, of a box whether it is checked. */
type Fields = Record<string, string | boolean>;

/** Waits until each text is there. */
export async function sees(part: Part, ...texts: (string | RegExp)[]): Promise<void> {
  for (const text of texts) await part.getByText(text).first().waitFor();
}

/** Presses buttons by their names, or a part of these. */
export async function press(part: Part, ...names: (string | RegExp)[]): Promise<void> {
  for (const name of names) await part.getByRole('button', { name }).click();
}

export async function keys(page: Page, ...all: string[]): Promise<void> {
  for (const key of all) await page.keyboard.press(key);
}

/** A field by its label, which may be the title of its panel too. */
const field = (part: Part, label: string) =>
  part.getByLabel(label, { exact: true }).and(part.locator('input, select, textarea'));

export async function fill(part: Part, fields: Fields): Promise<void> {
  for (const [label, value] of Object.entries(fields)) {
    const input = field(part, label);
    if (typeof value === 'boolean') await input.setChecked(value);
    else if (await input.evaluate(({ tagName }) => tagName === 'SELECT')) await input.selectOption(value);
    else await input.fill(value);
  }
}

/** Fills in fields and presses a button, or Enter in the last field. */
export async function submit(part: Part, fields: Fields, button?: string | RegExp): Promise<void> {
  await fill(part, fields);
  if (button !== undefined) await press(part, button);
  else await field(part, Object.keys(fields).at(-1) ?? '').press('Enter');
}

/** Presses a button and, once the fields of the dialog that opens are filled in, its button of the same name. */
export async function confirm(page: Page, label: string, title: string | RegExp = /./, fields: Fields = {}) {
  await page.getByRole('button', { name: label, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: title });
  await fill(dialog, fields);
  await dialog.getByRole('button', { name: label, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** The rows of a table whose head has this text. */
export function tableRows(part: Part, head: string | RegExp): Locator {
  const page = 'page' in part ? part.page() : part;
  return part.getByRole('row').filter({ has: page.getByRole('rowheader', { name: head }) });
}

/** The paths that a page asks for from now on. */
export function callsOf(page: Page): string[] {
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  return paths;
}

/** Holds back the calls of a page to an address. @returns a function that lets them go */
export async function holdBack(page: Page, url: string): Promise<() => void> {
  let letGo = () => {};
  const isLetGo = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(url, (route) => isLetGo.then(() => route.continue()));
  return letGo;
}
