import { api, data } from '../api/client.ts';
import { texts } from '../texts/texts.ts';
import { Action } from './action.tsx';
import { saidOf } from './page.tsx';
import { toast } from './toasts.tsx';

interface Props {
  name: string;
  found: { data: { paused: boolean } | undefined; refresh: () => void };
  pause: (paused: boolean) => Promise<unknown>;
}

export function pauseQueue(queue: string, paused: boolean): Promise<unknown> {
  return data(api.POST(`/v1/queues/{queue}/${paused ? 'pause' : 'resume'}`, { params: { path: { queue } } }));
}

/** Pauses a queue or topic, or resumes it. */
export function Pause({ name, found: { data: it, refresh }, pause }: Props) {
  const t = texts.value.settings;
  if (!it) return null;
  const set = async (paused: boolean) => {
    await pause(paused);
    toast(paused ? t.pausedSaid(name) : t.resumedSaid(name));
    refresh();
  };
  return it.paused ? (
    <button type="button" onClick={() => void set(false).catch((error) => toast(saidOf(error), 'bad'))}>
      {t.resume}
    </button>
  ) : (
    <Action label={t.pause} title={`${t.pause}: ${name}`} will={t.pauseHint(name)} run={() => set(true)} />
  );
}
