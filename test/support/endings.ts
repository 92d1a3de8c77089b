const endings: (() => unknown)[] = [];

/**
 * What is done at the end of every test file, after its own hooks. Modules are loaded once for many files: `afterAll` at
 * their top would be for the first of these only.
 */
export const atEachEnd = (ending: () => unknown): void => void endings.push(ending);

/** @throws what the first ending that failed did, after all have been tried */
export async function endFile(): Promise<void> {
  const failed: unknown[] = [];
  for (const ending of endings) {
    try {
      await ending();
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw failed[0];
}
