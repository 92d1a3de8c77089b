import { api, data, get, type Schemas } from '../../api/client.ts';
import { readPages, useResource } from '../../api/resource.ts';
import { Action } from '../../components/action.tsx';
import type { FieldSpec } from '../../components/form/spec.ts';
import { number } from '../../components/format.ts';
import { texts } from '../../texts/texts.ts';

type Gold = Schemas['PutGoldTickets']['tickets'];

const PAGE = 500;

/** A button that adds tickets with known answers to those of a queue. One with an id that is there already replaces that one. */
export function AddGold({ queue }: { queue: string }) {
  const t = texts.value.queueSettings;
  const add = async ({ tickets: pasted }: { tickets: unknown }) => {
    const tickets = Array.isArray(pasted) ? withPresent(pasted, await goldOf(queue)) : (pasted as Gold);
    await data(api.PUT('/v1/queues/{queue}/gold', { params: { path: { queue } }, body: { tickets } }));
  };
  const useFields = (): FieldSpec[] => {
    const present = useResource((signal) => goldOf(queue, signal), [queue]).data;
    const [label, example] = t.goldTickets;
    const hint = present ? `${example}. ${t.goldNow(number(present.length))}` : example;
    return [{ kind: 'json', name: 'tickets', said: [label, hint], empty: 'required' }];
  };
  return <Action label={t.addGold} fields={useFields} run={add} done={texts.value.settings.saved} />;
}

/** The API replaces the whole list. The pasted tickets go first, so that its errors name their positions in what was pasted. */
function withPresent(pasted: unknown[], present: Gold): Gold {
  const ids = new Set(pasted.map((one) => (one as Partial<Gold[number]> | null)?.id));
  return [...(pasted as Gold), ...present.filter(({ id }) => !ids.has(id))];
}

/** The gold of a queue as it is sent, all pages of it. @throws CallError */
async function goldOf(queue: string, signal?: AbortSignal): Promise<Gold> {
  const load = (cursor: string | undefined) =>
    get('/v1/queues/{queue}/gold', { path: { queue }, query: { limit: PAGE, cursor } }, signal);
  const { items } = await readPages(load, Number.POSITIVE_INFINITY);
  return items.map(({ id, body, answer, subject, priority, requires }) => ({
    ...{ id, body, answer, subject, requires },
    ...(priority !== null && { priority }),
  }));
}
