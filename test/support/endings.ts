/**
 * Work for the end of the running test file. Modules are loaded once for all files of a process, so an `afterAll` at the
 * top of one would run after the first of them only.
 */
const endings: (() => unknown)[] = [];

/** Runs `work` when all tests of the running file have ended. It may be called inside a test. */
export const atEndOfFile = (work: () => unknown): void => void endings.push(work);

/** Does the work of the file, the last first. @throws AggregateError after all of it was tried */
export async function endFile(): Promise<void> {
  const errors: unknown[] = [];
  for (const work of endings.splice(0).reverse())
    try {
      await work();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, 'the end of a test file');
}
