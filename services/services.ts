import type { Runtime } from '../runtime/runtime.ts';
import { type CaseService, caseService } from './cases.ts';
import { type CourtService, courtService } from './courts.ts';
import { type DeliveryService, deliveryService } from './deliveries.ts';
import { type DispatchService, dispatchService } from './dispatches.ts';
import { type FeedService, feedService } from './feed.ts';
import { type FigureService, figureService } from './figures.ts';
import { type GoldService, goldService } from './gold.ts';
import { type GroupService, groupService } from './groups.ts';
import { Invitations } from './invitations.ts';
import { type ItemService, itemService } from './items.ts';
import { type JobService, jobService } from './jobs.ts';
import { type JurorService, jurorService } from './jurors.ts';
import { type KeyService, keyService } from './keys.ts';
import { type OutcomeService, outcomeService } from './outcomes.ts';
import { type QueueService, queueService } from './queues.ts';
import { Reconciler } from './reconciler.ts';
import { type ReviewService, reviewService } from './reviews.ts';
import { Rules } from './rules.ts';
import { type ScheduleService, scheduleService } from './schedules.ts';
import { Settings } from './settings.ts';
import { type TaskConfig, type TaskService, taskService } from './tasks.ts';
import { type TemplateService, templateService } from './templates.ts';
import { type TicketService, ticketService } from './tickets.ts';
import { type TopicService, topicService } from './topics.ts';

export interface ServiceConfig extends TaskConfig {
  /** How long Temporal lets a workflow's id be, in bytes. */
  temporalMaxIdBytes: number;
  /** How far ahead of the database's clock an audit time may be (S1.4). */
  auditSkewSeconds: number;
}

/** What Docket does, a service for each noun. Transports check, authorise, call one of their functions and show. */
export interface Services {
  items: ItemService;
  tickets: TicketService;
  jobs: JobService;
  schedules: ScheduleService;
  topics: TopicService;
  reviews: ReviewService;
  deliveries: DeliveryService;
  outcomes: OutcomeService;
  cases: CaseService;
  courts: CourtService;
  jurors: JurorService;
  gold: GoldService;
  tasks: TaskService;
  templates: TemplateService;
  groups: GroupService;
  dispatches: DispatchService;
  feed: FeedService;
  queues: QueueService;
  keys: KeyService;
  figures: FigureService;
  rules: Rules;
  invitations: Invitations;
  start(): void;
  stop(): Promise<void>;
}

export function createServices(runtime: Runtime, config: ServiceConfig): Services {
  const rules = new Rules(runtime);
  const invitations = new Invitations(runtime);
  const reconciler = new Reconciler(runtime);
  const settings = new Settings(runtime, rules);
  const items = itemService(runtime, rules);
  const queues = queueService(runtime);
  const courts = courtService(runtime, invitations);
  const jobs = jobService(runtime, { items, queues, maxIdBytes: config.temporalMaxIdBytes });
  return {
    ...{ items, queues, rules, invitations },
    tickets: ticketService(runtime),
    jobs,
    schedules: scheduleService(runtime, jobs),
    topics: topicService(runtime, queues),
    reviews: reviewService(runtime, config.auditSkewSeconds),
    cases: caseService(runtime, { courts, items, queues }),
    courts,
    jurors: jurorService(runtime, courts, invitations),
    gold: goldService(runtime),
    tasks: taskService(runtime, config),
    templates: templateService(runtime),
    groups: groupService(runtime),
    dispatches: dispatchService(runtime),
    feed: feedService(runtime),
    keys: keyService(runtime.db),
    figures: figureService(runtime.db),
    deliveries: deliveryService(runtime),
    outcomes: outcomeService(runtime.db),
    start: () => reconciler.start(),
    stop: async () => void (await Promise.all([reconciler.stop(), invitations.stop(), settings.stop()])),
  };
}
