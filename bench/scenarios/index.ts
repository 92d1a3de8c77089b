import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { apiCpu } from './api-cpu.ts';
import { beats } from './beats.ts';
import { capacity } from './capacity.ts';
import { cases } from './cases.ts';
import { checked } from './checked.ts';
import { claims } from './claims.ts';
import { consoles } from './consoles.ts';
import { delayed } from './delayed.ts';
import { depth } from './depth.ts';
import { early } from './early.ts';
import { endToEnd } from './end-to-end.ts';
import { footprint } from './footprint.ts';
import { heldOpen } from './held-open.ts';
import { idle } from './idle.ts';
import { jobs } from './jobs.ts';
import { lateness } from './lateness.ts';
import { lists } from './lists.ts';
import { outbox } from './outbox.ts';
import { pair } from './pair.ts';
import { retention } from './retention.ts';
import { reviews } from './reviews.ts';
import { statements } from './statements.ts';
import { steady } from './steady.ts';
import { tasks } from './tasks.ts';
import { waits } from './waits.ts';
import { workflows } from './workflows.ts';

export interface Scenario {
  title: string;
  /** What the figures mean, for RESULTS.md. */
  note: string;
  run(lab: Lab, report: Report): Promise<void>;
}

/** By the name that `--only` takes, in the order in which they run. */
export const scenarios: Record<string, Scenario> = {
  claims: {
    title: '1 · Claim → decide over HTTP',
    note:
      'One API process and one worker, Temporal beside them, every hand-out and decision told to a workflow; pg-boss runs as a library in ' +
      'the process of the load, without HTTP, events or workflows. Each pg-boss fetch sorts all that is queued, so two ' +
      'comparisons stand here with the same target: as many waiting on both sides, and pg-boss at its best, with short queues one after the ' +
      'other. The second is the harder one: there a pair costs pg-boss two short statements, and Docket two HTTP calls and two statements with a ' +
      'line of the log each, while Temporal and the worker use the same cores. While pg-boss has its turn the worker is stopped, and what it had not published is ' +
      'dropped, else publishing it would go on beside the rival.',
    run: claims,
  },
  depth: {
    title: '2 · Claims where many wait',
    note: 'The same 8 callers ask both queues in turn; each takes a ticket, decides it and adds one.',
    run: depth,
  },
  workflows: {
    title: '3 · Whole lives with their workflows',
    note:
      'Three waves: add, claim, decide; each begins when all workflows have received the one before. The bare workflow gets a start and ' +
      'two signals, 16 in flight, on the same server with a worker of the same settings. It reads no row, writes none and has no timer; a ticket’s ' +
      'life has the three calls besides, and starts and cancels the timer of its lease.',
    run: workflows,
  },
  steady: {
    title: '4 · A steady day',
    note: 'Each ticket waits a second and is held a second. Limits on publishing are the defaults.',
    run: steady,
  },
  delayed: {
    title: '5 · Ten thousand due in one second',
    note: 'Lateness is the time of the `available` event less `availableAt`, both by the database’s clock. Each ticket has its workflow.',
    run: delayed,
  },
  idle: {
    title: '6 · Nothing to do',
    note: 'The tickets ask for a skill that no one has. CPU of Docket’s two processes over 20 s.',
    run: idle,
  },
  jobs: {
    title: '7 · Jobs: add, and pop + finish',
    note:
      'Jobs per second; a round is a turn of each in order, and while a rival has its turn Docket’s processes are stopped; what they had not told ' +
      'workflows by then is dropped, else telling would go on beside the rival. During Docket’s turn every transition is published with the default limits. ' +
      'Pop + finish is two calls everywhere but at graphile-worker, which has no pop: its own runner works through the queue with a task that does nothing; ' +
      'in batches means a local queue of 100 and gathered completions. Batches are one call at Docket and pg-boss (fetch of 100, complete of 100); beanstalkd has none, ' +
      'its commands are pipelined; BullMQ has `addBulk` and no pop of many, its calls for 100 are sent together. pg-boss, graphile-worker and BullMQ are libraries in the ' +
      'process of the load, Docket is called over HTTP, and in the rows “over TCP” by the same caller as beanstalkd. pg-boss pops from short queues (1,000; 5,000 for batches), ' +
      'its best case. Before pops the databases are vacuumed and analyzed, all alike, as autovacuum does within a minute; without statistics the planner guesses. A round ends when its time is over or its jobs are; the rate counts up to the last one. The target is for rivals that have on disk what they acknowledge; what an fsync costs on the disk at hand weighs on those ' +
      'that sync for one job what PostgreSQL syncs for many.',
    run: jobs,
  },
  lateness: {
    title: '8 · Jobs due in one second',
    note:
      'The others that wait are delayed too, in the same topic, to hours later. By the database’s clock: time of the `available` event less the due time. As received: ' +
      'wall time at which one of 16 consumers (long poll, batches of 100, finished at once) has the job less its due time, on the same clock. Docket’s waiting jobs are seeded by the statement ' +
      'that `add` uses, with their workflows taken as told; those that fall due have been added over HTTP and told. beanstalkd syncs each write and knows whole seconds only: ' +
      'each job is due that many seconds after its put was answered, which spreads them over the second. pg-boss is asked by 16 callers without a pause, `fetch` of 100.',
    run: lateness,
  },
  endToEnd: {
    title: '9 · From add to receipt at a steady rate',
    note:
      'From the begin of the call that adds the job to its receipt, added at the rate whatever comes back; 16 consumers, each finishes a job before it takes the next. Docket: long poll over HTTP, and ' +
      '`reserve` over TCP. The rivals as their users consume: pg-boss by 16 `work` loops at its least polling interval (0.5 s, up to 100 jobs at once), graphile-worker by a runner and ' +
      'BullMQ (fsync always) by a worker with concurrency 16, beanstalkd (fsync each write) by `reserve`.',
    run: endToEnd,
  },
  footprint: {
    title: '10 · What jobs leave behind',
    note:
      'WAL: growth of the server’s log over add, pop and finish, after a checkpoint and 200 jobs that are not counted, 16 callers; full pages are the part written whole, because they changed for the first time since the checkpoint. ' +
      'Followers run with their default limits, and what they write counts. Dead rows: of all tables of the database after a `vacuum` and then that many jobs in batches of 100, ' +
      'without autovacuum, and again when autovacuum with default settings had more than a minute. Docket keeps finished jobs with their history; pg-boss keeps them without; graphile-worker deletes them.',
    run: footprint,
  },
  reviews: {
    title: '11 · Audit callbacks on reviews',
    note:
      'The number of callbacks of the article’s day over its mix (20 % come together with another of the same review, 6 % come late), 16 callers, as fast as they are accepted and then 20 a second. ' +
      'Acknowledged: the call’s answer, by when the callback is durable. Applied: from arrival to application, by the database’s clock; put off: applied after one that had come later. Every outcome is compared with the oracle of the tests. ' +
      'Beside it the article’s scheme on Redis (fsync always), as a library in the process of the load: a lock by SETNX for each review, the record read, changed and written back, and a delay queue of 4 s, ' +
      'as in its printed trace, for who doesn’t get the lock. It has no workflows, and its critical section is five round trips on one machine; in the article it was long enough for 20 % to lose the lock.',
    run: reviews,
  },
  cases: {
    title: '12 · Courts of jurors',
    note:
      'Rush: nine votes win, everybody reads 0.1 to 0.9 s, whoever gets nothing asks again 0.3 to 0.7 s later, 64 connections. Time to decide counts from the begin of the rush, as the jurors hear it. ' +
      'The run fails if a side has more than nine votes, if a vote is wasted without over-booking, or if Docket counts other votes as wasted than it refused as too late. Beside it the article’s scheme on Redis (fsync always), as a library in the process of the load: ' +
      'a queue of holders for each case, whose length is looked at before a juror joins it, with the same bound. It lets in more than that bound, because others look meanwhile, so it decides sooner, by votes that are wasted. ' +
      'Assignment: from the first call that brings cases until the last case has its 20 invitations, each by its own workflow, no one invited twice. Claims: 16 jurors, one a caller, each with 1,000 votes, for the orders by age and by closeness on the ' +
      'cases at the head, as the claims led to them; a claim goes past all of these. They give back what they get. ' +
      'The day: each hour is 2.5 s, leases (1 h), answer times (2 h) and deadlines (24 h) go with it, and so does the limit on signals while callers are busy (500/s instead of 10). Cases and jurors come by the same profile of hours; a juror looks in, ' +
      'judges up to three cases of 2 to 6 minutes each and leaves, at once when there is nothing. In mode assign he only answers invitations that he finds. Jurors come for another day after the last case. What a case is brought later than its time is what the machine lagged behind: hours of it, and the day says nothing.',
    run: cases,
  },
  tasks: {
    title: '13 · Tasks that clients pull',
    note:
      'Groups of 20; each has nine tasks for all of it with 6 dispatches each, one of these blocking, and one for a member alone. In every tenth group nothing is due before tomorrow. Groups are brought over HTTP; tasks are seeded by ' +
      'the function that `POST /v1/tasks` calls, in batches, with their workflows taken as told: over HTTP, with the telling of 50,000 workflows, that would take longer than all else here. Plan: what the server itself ran inside of `next_tasks`, by auto_explain; the run fails unless each pick reads `item` by that index alone and no more rows than the target. ' +
      'Next + complete: each call is of a random client of all; an administrator changes something ten times a second: a group, a task’s dispatchTimes and params, or a task’s existence. By whole groups: two groups at a time, all 20 members pull and complete until nothing is left, one in ten of them asks twice at once, and six such changes are made to the group meanwhile. ' +
      'Docket tells workflows with its default limits meanwhile; what it had not told by the end of its turn is dropped, and its processes are stopped while the rival has its turn, which is the article’s scheme as a process with the same HTTP server, calls and number of connections: a queue for each user in Redis (fsync always) built from tables in PostgreSQL when it is missing; ' +
      'a change goes into the tables first, then the queues of all whom it concerns are thrown away; stock is read, then `n = n - 1` is written; the unfinished task is in Redis. It has no events, outbox, workflows, templates or checks of its input. Counted alike for both, from what callers were answered: dispatches beyond dispatchTimes (of a limit that was lowered, beyond what may have been given before); dispatches to ' +
      'a pull that was sent after the answer to a change that forbids them; an each-once task to a user who had it; and dispatches to a user with an unfinished one. For Docket any of these, or another number of dispatches in its database than were answered, fails the run. Docket refuses no completion; the rival may. ' +
      'Empty pulls: without waiting, so with reasons and nextAt. Those who had all that is open for them took it before; each caller is a client of his own. Waiting: groups of 20, one dispatch for each task, so one of 20 is called; received is the time at which the answer is read, by the database’s clock, and each task’s workflow was told of its start before. ' +
      'Rotating tasks: spread over all groups, with their workflows taken as told; lateness is the time of the occurrence’s `created` event, which is put down when it is made, and all are seen when a reader counts them, which is after the commit.',
    run: tasks,
  },
  apiCpu: {
    title: '14 · CPU of the API',
    note:
      'CPU time of the API’s process, all its threads and the kernel’s part, for one call of claim → decide without a pause; publishing to workflows and the clock are in it where that process does them. ' +
      'Beside it a process with the same HTTP server and Hono, which reads the same bodies, answers with the JSON of a real claim and decision, and does nothing else; and the same with calls that wait, all that have come together, as long as a call of the API took before: a server that waits is woken for each answer, and wakes its caller.',
    run: apiCpu,
  },
  heldOpen: {
    title: '15 · Beside a transaction that stays open',
    note:
      'As part 9, while another session of the same database keeps a transaction open that has read something: what dies meanwhile stays in the tables and ' +
      'indexes, and a queue that looks for its next row among the dead gets slower with every job. The first and the last part of the same run are compared, and the last with that of the rivals.',
    run: heldOpen,
  },
  consoles: {
    title: '16 · Open consoles while nothing happens',
    note:
      'A real browser shows the page for a minute after it has settled; what it asks for in that minute is then asked by 100 at once, each with its own connection, its own minute and, where ' +
      'the page has one, its own stream of events. CPU of the API’s process, over a minute, less what it takes without any.',
    run: consoles,
  },
  pair: {
    title: '17 · Where the time of a pair goes',
    note:
      'One caller who does nothing but claim → decide, and the parts of it by themselves, in turns. pg-boss is a library in the process of the load and makes two statements; ' +
      'Docket makes two statements and two HTTP calls, while a worker publishes what they did and Temporal runs the workflows, on the same cores.',
    run: pair,
  },
  capacity: {
    title: '18 · What a life costs, and what that predicts',
    note:
      'First one API process and one worker, one kind and one transition at a time, by all lives before the next transition; what is counted ends when workflows have received it and have run. ' +
      'Left: 20 transitions a second. Beside: 16 callers without a pause, whose messages are published afterwards, four at a time. ' +
      'CPU is that of all threads and backends, ended ones too, less what the same seconds cost where nothing is done; callers are the bench itself, kernel is what the kernel’s threads and interrupts take; ' +
      'busy is how busy the cores were while it was used. WAL is without pages that are written whole because they change for the first time after a checkpoint; these depend on how often there is one. ' +
      'Kept: growth of all tables and indexes, each as compact as `vacuum full` leaves it. Actions: what a workflow’s history shows of what Temporal Cloud bills. ' +
      'Then the model (docs/scaling.md) says what two API processes and two workers can do on two cores, a pair pinned to each, PostgreSQL, Temporal and the callers on both; it has seen nothing of such a run. ' +
      'Of 100 lives 30 are tickets, 20 jobs, 15 jobs that need no workflow, 10 cases of three votes, 15 tasks, 10 reviews of four callbacks. As much as it can: 224 lives at once, each of which goes on when its workflow has received its last step and up to half a second has passed. ' +
      'Followers hold nothing back beside callers (publishBusyPerSecond and publishIdlePerSecond are 10,000). Ratio: predicted to measured.',
    run: capacity,
  },
  retention: {
    title: '19 · Clearing what is over',
    note:
      'Ten million finished tickets with three events each, all to be cleared, each written to the archive before; 8 callers claim, decide and add in ' +
      'another queue, in turn with clearing and without.',
    run: retention,
  },
  statements: {
    title: '20 · SQL of a pair, 0.1.0 beside today',
    note:
      'The statements that claim and decide, each release’s own code on a database of its own on the same server, in turns; no API, no worker, no Temporal. ' +
      'What each writes for its workflows is in it: 0.1.0 writes rows of its outbox, which it deletes later. Both databases are vacuumed and analyzed before each round.',
    run: statements,
  },
  outbox: {
    title: '21 · From a SQL transaction by the outbox',
    note:
      'A database of the caller’s on the same server, one follower beside API, worker and Temporal. From the begin of a transaction that adds a job and commits, to its receipt by one of 16 consumers as in part 9, ' +
      'so begin, add, commit, the follower’s call and the pop are all in it: a job can be claimed before. Beside it the same jobs added by one HTTP call each, in turn on the same system. Beside an open transaction: one of the caller’s database that has read something and stays open for all of it, so that no ' +
      'row that the follower deletes can be removed; the size is that of all parts of the outbox at the end. Many at once: one transaction with all rows, until the follower has deleted the last.',
    run: outbox,
  },
  beats: {
    title: '22 · Beats: from one hand-out to the next by one call',
    note:
      'Each caller holds one item, ends it and gets the next by the same call and commit; beside it the same by two calls, and pg-boss’s fetch → complete from short queues, ' +
      'its best case. The queue with skills has a form, too: each ticket asks for a skill, each caller has it, and each decision is checked.',
    run: beats,
  },
  checked: {
    title: '23 · The beat where work is checked',
    note:
      'The beat of 22 by one call, in a queue whose settings have decisions checked, beside one without, in turn in each round. A second look is made by the transaction ' +
      'of the decision that it is about, and waits in the same queue.',
    run: checked,
  },
  early: {
    title: '24 · Courts that decide early, on real judgements',
    note:
      'No server: the strategies of domain/courts.ts judge votes that people have given (NOTICE). Of each web site, rated with one of five letters, 41 random raters vote one after the other, ' +
      'and right is what most of its other raters say; of each question, with a true answer that is known, all five voters. Sites and voters come in 30 random orders. Records begin empty and grow with each verdict, as those of a court without gold. ' +
      'What is hung is not right. Beside: compared with the first line of the same set, with the interval of 95 % by bootstrap over the items.',
    run: early,
  },
  lists: {
    title: '25 · Lists of a million tickets',
    note:
      'One caller asks for the first page of 50 by one filter after the other, as the console does: 1,000,000 tickets of one queue, four of five decided by 50 people and a model, ' +
      'with 20 categories and 1,000 subjects, their words kept. A page by what few or none have ends after 10,000 tickets that do not fit.',
    run: lists,
  },
  waits: {
    title: '26 · From a decision to the workflow that waits for it',
    note:
      'Callers’ workflows, which have asked by Nexus and wait, one decided at a time. From the begin of the call that decides to the workflow’s result. Beside it, in turn, a bare ' +
      'workflow on the same server that waits for one signal: from the begin of the call that signals it to its result, the least that any door to a workflow can take.',
    run: waits,
  },
};
