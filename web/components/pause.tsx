import { api, data } from '../api/client.ts';
import { useGet } from '../api/resource.ts';
import { mayAct } from '../api/session.ts';
import { texts } from '../texts/texts.ts';
import { Action } from './action.tsx';
import { Badge } from './badge.tsx';
import { Button, saidOf } from './page.tsx';
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
    <Button does={t.resume} run={() => set(false).catch((error) => toast(saidOf(error), 'bad'))} />
  ) : (
    <Action label={t.pause} title={`${t.pause}: ${name}`} will={t.pauseHint(name)} run={() => set(true)} />
  );
}

/** Pauses a queue of tickets, or resumes it; says that it is paused. */
export function PauseTickets({ queue }: { queue: string }) {
  const found = useGet('/v1/queues/{queue}', { path: { queue } });
  return (
    <>
      {found.data?.paused && <Badge tone="warn">{texts.value.common.paused}</Badge>}
      {mayAct('supervisor') && <Pause name={queue} found={found} pause={(paused) => pauseQueue(queue, paused)} />}
    </>
  );
}
