/** Milliseconds between the end of a read and the next. */
const PAUSE_MS = 2_000;

interface Watch<T> {
  receivers: Set<(value: T) => void>;
  latest: Promise<T | undefined>;
  timer?: NodeJS.Timeout;
}

/**
 * Lets all who watch the same thing share its reads: one at a time, and again 2 s later while someone watches. A read
 * that fails is left out.
 * @returns watches the thing of this name: `receive` gets each value, the first before the promise resolves, and a value
 * perhaps twice; it resolves to what ends the watch
 */
export function watching<T>(read: (name: string) => Promise<T>) {
  const watches = new Map<string, Watch<T>>();
  const look = (watch: Watch<T>, name: string) => {
    watch.latest = read(name).catch(() => undefined);
    void watch.latest.then((value) => {
      if (value !== undefined) for (const receive of watch.receivers) receive(value);
      if (watch.receivers.size > 0) watch.timer = setTimeout(look, PAUSE_MS, watch, name).unref();
    });
  };
  return async (name: string, receive: (value: T) => void): Promise<() => void> => {
    let watch = watches.get(name);
    if (watch === undefined) {
      watch = { receivers: new Set(), latest: Promise.resolve(undefined) };
      watches.set(name, watch);
      look(watch, name);
    }
    const own = watch;
    own.receivers.add(receive);
    const value = await own.latest;
    if (value !== undefined) receive(value);
    return () => {
      own.receivers.delete(receive);
      if (own.receivers.size > 0) return;
      clearTimeout(own.timer);
      if (watches.get(name) === own) watches.delete(name);
    };
  };
}
