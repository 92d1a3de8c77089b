import { useEffect, useRef } from 'preact/hooks';
import { report } from './connection.ts';
import { loadSession } from './signing.ts';

/** Of a person; there are others of a queue. */
const TYPES = ['lease_lost', 'changed', 'invited'] as const;

/** What `GET /v1/stream` sends. */
export interface StreamEvent {
  type: (typeof TYPES)[number];
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

/** Follows the notices of a person while the tab is seen; none that came while it was hidden is missed. */
export function useStream(of: { reviewer: string } | { juror: string }, handlers: Handlers): void {
  const current = useRef(handlers);
  current.current = handlers;
  const whose = new URLSearchParams(of).toString();
  useEffect(() => {
    let source: EventSource | undefined;
    let lastId = '';
    let again: ReturnType<typeof setTimeout> | undefined;
    const close = () => {
      clearTimeout(again);
      source?.close();
      source = undefined;
    };
    const open = () => {
      const opened = new EventSource(`/v1/stream?${whose}${lastId && `&lastEventId=${lastId}`}`);
      opened.onopen = () => {
        report(whose, 'live');
        current.current.onOpen?.();
      };
      opened.onerror = () => {
        report(whose, 'lost');
        // not cut off, but answered with an error: the session may have ended, or a proxy has no server
        if (opened.readyState !== EventSource.CLOSED) return;
        close();
        again = setTimeout(follow, AGAIN_MS);
        void loadSession().catch(() => {});
      };
      for (const type of TYPES)
        opened.addEventListener(type, (event) => {
          lastId = event.lastEventId;
          current.current.onEvent({ type, ...(JSON.parse(event.data) as object) });
        });
      return opened;
    };
    const follow = () => {
      if (document.hidden) {
        close();
        report(whose, 'paused');
      } else if (!source) {
        report(whose, 'connecting');
        source = open();
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
