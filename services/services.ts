import type { Runtime } from '../runtime/runtime.ts';
import { type CaseService, caseService } from './cases.ts';
import { type CourtService, courtService } from './courts.ts';
import { type DeliveryService, deliveryService } from './deliveries.ts';
import { type FigureService, figureService } from './figures.ts';
import { type GoldService, goldService } from './gold.ts';
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
import { Settings } from './settings.ts';
import { type TaskService, taskService } from './tasks.ts';
import { type TicketService, ticketService } from './tickets.ts';

export interface ServiceConfig {
  allowPrivateCallbacks: boolean;
  /** How long Temporal lets a workflow's id be, in bytes. */
  temporalMaxIdBytes: number;
  /** Rotating tasks that an executor may have (S4.9). */
  maxRotations: number;
  /** How far ahead of the database's clock an audit time may be (S1.4). */
  auditSkewSeconds: number;
}

/** What Docket does, a service for each noun. Transports check, authorise, call one of their functions and show. */
export interface Services {
  items: ItemService;
  tickets: TicketService;
  jobs: JobService;
  reviews: ReviewService;
  deliveries: DeliveryService;
  outcomes: OutcomeService;
  cases: CaseService;
  courts: CourtService;
  jurors: JurorService;
  gold: GoldService;
  tasks: TaskService;
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
  return {
    ...{ items, queues, rules, invitations },
    tickets: ticketService(runtime),
    jobs: jobService(runtime, { items, queues, maxIdBytes: config.temporalMaxIdBytes }),
    reviews: reviewService(runtime, config.auditSkewSeconds),
    cases: caseService(runtime, { courts, items, queues }),
    courts,
    jurors: jurorService(runtime, courts, invitations),
    gold: goldService(runtime),
    tasks: taskService(runtime),
    keys: keyService(runtime.db),
    figures: figureService(runtime.db),
    deliveries: deliveryService(runtime),
    outcomes: outcomeService(runtime.db),
    start: () => reconciler.start(),
    stop: async () => void (await Promise.all([reconciler.stop(), invitations.stop(), settings.stop()])),
  };
}
