import { useEffect, useState } from 'preact/hooks';

/**
 * Says when work arrives while the tab is hidden, where a desk that is empty claims nothing; by a sound too, if that is wanted.
 * @returns whether something has arrived that the reviewer has not come back to
 */
export function useArrivals(queue: string, isBusy: boolean, isLoud: boolean): boolean {
  const [arrived, setArrived] = useState(false);
  useEffect(() => {
    let source: EventSource | undefined;
    const look = () => {
      source?.close();
      if (!document.hidden) return setArrived(false);
      if (isBusy) return;
      source = new EventSource(`/v1/stream?queue=${encodeURIComponent(queue)}`);
      source.addEventListener('available', () => {
        setArrived(true);
        if (isLoud) beep();
        source?.close();
      });
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      source?.close();
    };
  }, [queue, isBusy, isLoud]);
  return arrived;
}

/** A short, quiet tone; none where the browser has not been touched yet. */
function beep(): void {
  const context = new AudioContext();
  const tone = context.createOscillator();
  const volume = context.createGain();
  volume.gain.value = 0.1;
  tone.connect(volume).connect(context.destination);
  tone.onended = () => void context.close();
  tone.start();
  tone.stop(context.currentTime + 0.25);
}
