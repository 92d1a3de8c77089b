import { useEffect, useRef } from 'preact/hooks';
import { report } from './connection.ts';
import { loadSession } from './signing.ts';

/** What `GET /v1/stream` sends. */
export interface StreamEvent {
  type: 'lease_lost' | 'changed' | 'invited' | 'available' | 'stats';
  /** Of the item, where it is about one. */
  kind?: string;
  id?: string;
  [more: string]: unknown;
}

interface Handlers {
  onEvent: (event: StreamEvent) => void;
  /** The stream is open, at first or again: what was shown may be old. */
  onOpen?: () => void;
}

/** After an answer that was an error. */
const AGAIN_MS = 5_000;
const TYPES = ['lease_lost', 'changed', 'invited', 'available', 'stats'] as const;

/**
 * Follows the notices of a person or a queue while the tab is seen; none that came while it was hidden is missed.
 * @param of whose; null: no one's yet
 */
export function useStream(
  of: { reviewer: string } | { juror: string } | { queue: string } | null,
  handlers: Handlers,
): void {
  const current = useRef(handlers);
  current.current = handlers;
  const whose = of && new URLSearchParams(of).toString();
  useEffect(() => {
    if (whose === null) return;
    let source: EventSource | undefined;
    let lastId = '';
    let again: ReturnType<typeof setTimeout> | undefined;
    const close = () => {
      clearTimeout(again);
      source?.close();
      source = undefined;
    };
    const refused = () => {
      close();
      again = setTimeout(follow, AGAIN_MS);
    };
    const follow = () => {
      if (document.hidden) {
        close();
        report(whose, 'paused');
      } else if (!source) {
        report(whose, 'connecting');
        const seen = (id: string) => {
          lastId = id;
        };
        source = open(whose, { lastId, handlers: current, seen, refused });
      }
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      close();
      report(whose, undefined);
    };
  }, [whose]);
}

interface Opening {
  lastId: string;
  handlers: { current: Handlers };
  /** Called with the id of each event. */
  seen: (id: string) => void;
  /** Called when the browser doesn't try again by itself. */
  refused: () => void;
}

function open(whose: string, { lastId, handlers, seen, refused }: Opening): EventSource {
  const source = new EventSource(`/v1/stream?${whose}${lastId && `&lastEventId=${lastId}`}`);
  source.onopen = () => {
    report(whose, 'live');
    handlers.current.onOpen?.();
  };
  source.onerror = () => {
    report(whose, 'lost');
    // not cut off, but answered with an error: the session may have ended, or a proxy has no server
    if (source.readyState !== EventSource.CLOSED) return;
    refused();
    void loadSession().catch(() => {});
  };
  for (const type of TYPES)
    source.addEventListener(type, (event) => {
      seen(event.lastEventId);
      handlers.current.onEvent({ type, ...(JSON.parse(event.data) as object) });
    });
  return source;
}
