import { api, data, get, type Schemas } from '../../api/client.ts';
import { CallError, ownProblem } from '../../api/problem.ts';
import { mayAct } from '../../api/session.ts';
import { Action } from '../../components/action.tsx';
import { State } from '../../components/badge.tsx';
import { number, span } from '../../components/format.ts';
import { type Fact, linked } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { queuePath } from '../../links.ts';
import type { Role } from '../../routes.ts';
import { texts } from '../../texts/texts.ts';
import { ItemView, JsonSection } from './item-view.tsx';
import { reasonField, type Why } from './ticket-actions.tsx';

type Job = Schemas['Job'];

export function JobParts({ id }: { id: string }) {
  return (
    <ItemView
      {...{ kind: 'job', id }}
      load={(signal) => get('/v1/jobs/{id}', { path: { id } }, signal)}
      facts={factsOf}
      actions={(job, refresh) => <JobActions job={job} refresh={refresh} />}
    >
      {({ body, erased }) => <JsonSection title={texts.value.items.body} value={body} erased={erased} />}
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

/** What may be done to an open job from outside: by whom, and in which states. */
const JOB_COMMANDS = [
  { name: 'kick', by: ['consumer', 'supervisor'], from: ['buried', 'delayed'] },
  { name: 'bury', by: ['consumer', 'supervisor'], from: ['ready', 'reserved', 'delayed'] },
  { name: 'finish', by: ['consumer'], from: ['ready', 'reserved', 'delayed', 'buried'] },
  { name: 'delete', by: ['producer', 'consumer'], from: ['ready', 'reserved', 'delayed', 'buried'] },
] as const satisfies { name: string; by: readonly Role[]; from: readonly Job['state'][] }[];
export type JobCommand = (typeof JOB_COMMANDS)[number];

/** Those of them that the session's role may give. */
export const ownJobCommands = (): readonly JobCommand[] => JOB_COMMANDS.filter(({ by }) => mayAct(...by));

export const isFrom = ({ from }: JobCommand, state: string): boolean => from.some((one) => one === state);

/** @throws CallError also for a command that was understood and not carried out */
export async function giveCommand(command: object): Promise<void> {
  const { success, error } = await data(api.POST('/v1/jobs', { body: command as Schemas['JobCommand'] }));
  if (!success) throw new CallError(ownProblem('other', error ?? ''));
}

function JobActions({ job: { id, state }, refresh }: { job: Job; refresh: () => void }) {
  const t = texts.value.items.actions;
  const able = ownJobCommands().filter((one) => isFrom(one, state));
  return able.map((one) => (
    <Action
      key={one.name}
      {...t[one.name]}
      will={`${t[`${one.name}Will`]} ${state === 'reserved' ? t.consumerLoses : ''}`}
      fields={one.name === 'bury' ? [reasonField()] : []}
      danger={one.name === 'delete'}
      run={({ reason }: Why) => giveCommand({ command: one.name, id, reason })}
      onDone={refresh}
    />
  ));
}
