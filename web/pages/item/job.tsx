import { api, data, get, type Schemas } from '../../api/client.ts';
import { CallError, ownProblem } from '../../api/problem.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { State } from '../../components/badge.tsx';
import { number, span } from '../../components/format.ts';
import { type Fact, linked } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { queuePath } from '../../links.ts';
import { texts } from '../../texts/texts.ts';
import { ItemView, JsonSection } from './item-view.tsx';
import { reasonField, type Why } from './ticket-actions.tsx';

type Job = Schemas['Job'];
const FINAL = ['finished', 'deleted'];

export function JobParts({ id }: { id: string }) {
  return (
    <ItemView
      {...{ kind: 'job', id }}
      load={(signal) => get('/v1/jobs/{id}', { path: { id } }, signal)}
      facts={factsOf}
      actions={(job, refresh) => !FINAL.includes(job.state) && <JobActions job={job} refresh={refresh} />}
    >
      {(job) => <JsonSection title={texts.value.items.body} value={job.body} />}
    </ItemView>
  );
}

function factsOf(job: Job): Fact[] {
  const { fields: f } = texts.value.items;
  return [
    [f.state, <State key="state" state={job.state} />],
    linked(f.topic, queuePath('job', job.topic), job.topic),
    [f.priority, number(job.priority)],
    [f.ttr, span(job.TTR)],
    job.reservedUntil !== null && [f.reservedUntil, <When key="until" at={job.reservedUntil} />],
    job.state === 'delayed' && [f.availableAt, <When key="available" at={job.availableAt} />],
    [f.createdAt, <When key="created" at={job.createdAt} />],
    [f.attempts, number(job.attempts)],
    [f.number, String(job.number)],
    job.run > 1 && [f.run, number(job.run)],
    job.lastReason !== null && [f.lastReason, job.lastReason],
  ];
}

/** A command of `POST /v1/jobs`. @throws CallError also for one that was understood and not carried out */
async function command(body: Schemas['JobCommand']): Promise<void> {
  const { success, error } = await data(api.POST('/v1/jobs', { body }));
  if (success) return;
  throw new CallError(ownProblem('other', error ?? ''));
}

function JobActions({ job: { id, state }, refresh }: { job: Job; refresh: () => void }) {
  const t = texts.value.items.actions;
  const send = (name: 'kick' | 'finish' | 'delete') => async () => {
    await command({ command: name, id } as Schemas['JobCommand']);
    refresh();
  };
  const bury = async ({ reason = '' }: Why) => {
    await data(api.POST('/v1/jobs/{id}/bury', { params: { path: { id } }, body: { reason } }));
    refresh();
  };
  const isKickable = state === 'buried' || state === 'delayed';
  const isReserved = state === 'reserved';
  return (
    <>
      {mayAct('consumer', 'supervisor') && isKickable && <Action {...t.kick} will={t.kickWill} run={send('kick')} />}
      {mayAct('consumer', 'supervisor') && state !== 'buried' && (
        <Action {...t.bury} will={isReserved ? t.buryReservedWill : t.buryWill} fields={[reasonField()]} run={bury} />
      )}
      {mayAct('consumer') && (
        <Action {...t.finish} will={isReserved ? t.finishReservedWill : t.finishWill} run={send('finish')} />
      )}
      {mayAct('producer', 'consumer') && (
        <Action {...t.delete} will={isReserved ? t.deleteReservedWill : t.deleteWill} danger run={send('delete')} />
      )}
    </>
  );
}
