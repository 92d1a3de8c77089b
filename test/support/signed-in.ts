import type { Page } from 'playwright-core';

/** Exchanges a key for the session of this page's browser, as a person does. */
export async function signInWith(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
