import { effect } from '@preact/signals';
import type { Schemas } from './client.ts';
import { report } from './connection.ts';
import { mayAct, session } from './session.ts';

export type LiveEvent = Schemas['FeedEvent'];

/** null: events may have been missed, so look at everything again. */
type Listener = (events: LiveEvent[] | null) => void;

const FEED = 'feed';
/** Behind every position, so that an answer is empty and names the newest in its header. */
const END = Number.MAX_SAFE_INTEGER;
/** The server shows that it lives every 10 s. */
const SILENCE_MS = 25_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000];

const listeners = new Set<Listener>();
let following: AbortController | undefined;

/**
 * Calls back with what happens anywhere in the system, for as long as the tab is seen. All listeners share one connection:
 * a browser has only six to a server.
 * @returns what ends it
 */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  followWhileNeeded();
  return () => {
    listeners.delete(listener);
    followWhileNeeded();
  };
}

document.addEventListener('visibilitychange', followWhileNeeded);
effect(() => {
  const who = session.value;
  // another session reads another feed
  following?.abort();
  following = undefined;
  if (who) queueMicrotask(followWhileNeeded);
});

function followWhileNeeded(): void {
  const who = session.peek();
  const mayRead = who && who.queues === null && mayAct('producer');
  const wanted = Boolean(mayRead) && listeners.size > 0 && !document.hidden;
  if (!wanted) {
    following?.abort();
    following = undefined;
    report(FEED, listeners.size === 0 ? undefined : document.hidden ? 'paused' : 'polling');
  } else if (!following) {
    following = new AbortController();
    void follow(following.signal);
  }
}

const tell = (events: LiveEvent[] | null) => {
  for (const listener of [...listeners]) listener(events);
};

async function follow(ended: AbortSignal): Promise<void> {
  for (let failures = 0; !ended.aborted; failures++) {
    if (failures === 0) report(FEED, 'connecting');
    const opened = await read(ended).catch(() => false);
    if (ended.aborted) return;
    if (opened) failures = 0;
    report(FEED, 'lost');
    const ms = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

/** Reads until the connection breaks. @returns whether there was one */
async function read(ended: AbortSignal): Promise<boolean> {
  const silence = new AbortController();
  const signal = AbortSignal.any([ended, silence.signal]);
  const newest = await fetch(`/v1/feed?after=${END}&limit=1`, { signal });
  const after = newest.headers.get('docket-feed-newest');
  if (!newest.ok || after === null) return false;
  const response = await fetch(`/v1/feed?follow=true&after=${after}`, { signal });
  if (!response.ok || !response.body) return false;
  report(FEED, 'live');
  tell(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  heard();
  try {
    for await (const lines of linesOf(response.body)) {
      heard();
      const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LiveEvent);
      if (events.length > 0) tell(events);
    }
  } catch {
    // cut off: the caller connects again
  } finally {
    clearTimeout(timer);
  }
  return true;
}

async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string[]> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
}
