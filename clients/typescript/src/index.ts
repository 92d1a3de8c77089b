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
  DocketError,
  HttpError,
  LeaseLostError,
  RefusedError,
  Release,
  StaleLogIdError,
  StuckError,
  UnavailableError,
} from './errors.ts';
export { Puller, type PullerOptions } from './puller.ts';
export type { Dispatch, NewTask, NewTemplate, NextDispatch, Task } from './tasks.ts';
