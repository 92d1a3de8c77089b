export type { Case, CaseClaim, Court, CourtSettings, HeldCase, Invitation, Juror, NewCase } from './cases.ts';
export {
  type AddResult,
  Client,
  type ClientOptions,
  type Job,
  type JobView,
  type Json,
  type NewJob,
  type NextOptions,
  type PeekedJob,
} from './client.ts';
export { Consumer, type ConsumerOptions, type HandlerContext } from './consumer.ts';
export {
  AuthError,
  Bury,
  Decline,
  DocketError,
  HttpError,
  LeaseLostError,
  NotOpenError,
  RefusedError,
  Release,
  SignatureError,
  Skip,
  StaleLogIdError,
  StuckError,
  UnavailableError,
} from './errors.ts';
export type { Events, EventsOptions } from './events.ts';
export type { FeedEvent, FeedOptions } from './feed.ts';
export { type JudgingContext, JurorLoop, type JurorOptions, type Opinion } from './juror.ts';
export type { HoldContext } from './keeping.ts';
export { Puller, type PullerOptions } from './puller.ts';
export {
  type CompletedTask,
  memoryVersions,
  type ReceivedCallback,
  type ReceiveOptions,
  receive,
  type Versions,
} from './receive.ts';
export { ReviewerLoop, type ReviewerOptions } from './reviewer.ts';
export type {
  AuditCallback,
  AuditEntry,
  CallbackAnswer,
  NewReview,
  PictureCallback,
  Review,
  ReviewLogLine,
} from './reviews.ts';
export type { StreamEvent, StreamOf, StreamOptions } from './streams.ts';
export type { Dispatch, NewTask, NewTemplate, NextDispatch, Task, TemplateChange } from './tasks.ts';
export type {
  BatchResult,
  Callback,
  Claim,
  ClaimOptions,
  Decided,
  Draft,
  HandedTicket,
  Held,
  NewSuggestion,
  NewTicket,
  Queue,
  QueueSettings,
  ReviewTarget,
  SubjectFilter,
  Suggestion,
  Ticket,
  TicketChange,
  TicketEvent,
  TicketFilter,
  TicketState,
  UnsuggestedOptions,
} from './tickets.ts';
