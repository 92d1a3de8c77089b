/** How many of something a test takes: all of them by night (`.ci/nightly`), fewer before each change is taken in. */
export const byNight = (all: number, fewer: number): number => (process.env.DOCKET_NIGHTLY ? all : fewer);
