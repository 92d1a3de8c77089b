import { useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';

type Ticket = Schemas['HandedTicket'] | null;

interface Windows {
  /** This window works; the others of this browser follow it. undefined: not known yet. */
  isFirst: boolean | undefined;
  /** What the first one shows, where this is not it. */
  followed: Ticket;
  /** Makes this window the first. */
  takeOver: () => void;
}

/**
 * Of the windows of a person at a desk, the first works, and the next one when that is closed. The others show what it shows.
 * @param shown what this window shows, if it is the first
 */
export function useWindows(desk: string, shown: Ticket): Windows {
  const name = `docket ${desk}`;
  const [isFirst, setFirst] = useState<boolean>();
  const [followed, setFollowed] = useState<Ticket>(null);
  const ended = useRef(new AbortController());
  const mine = useRef<() => void>(() => {});
  const hold = () =>
    new Promise<void>((resolve) => {
      mine.current = resolve;
      setFirst(true);
    });
  const wait = (options: LockOptions) => {
    const { signal } = ended.current;
    const asked = navigator.locks.request(name, options, (lock) => (lock ? hold() : setFirst(false)));
    asked.then(
      () => !options.ifAvailable || signal.aborted || wait({ signal }),
      () => {
        // another window has taken over, and this one waits for that to be closed
        if (signal.aborted) return;
        setFirst(false);
        wait({ signal });
      },
    );
  };
  useEffect(() => {
    ended.current = new AbortController();
    // only over https or on this machine; elsewhere each window works by itself
    if (navigator.locks) wait({ ifAvailable: true });
    else setFirst(true);
    return () => {
      ended.current.abort();
      mine.current();
    };
  }, [name]);
  useEffect(() => {
    const channel = new BroadcastChannel(name);
    const show = () => channel.postMessage({ ticket: shown && { ...shown, lease: null } });
    if (isFirst) show();
    else channel.postMessage('show');
    channel.onmessage = ({ data }: MessageEvent<'show' | { ticket: Ticket }>) => {
      if (data === 'show') isFirst && show();
      else setFollowed(data.ticket);
    };
    return () => channel.close();
  }, [name, isFirst, shown]);
  return { isFirst, followed, takeOver: () => wait({ steal: true }) };
}
