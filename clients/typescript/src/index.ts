export {
  type AddResult,
  Client,
  type ClientOptions,
  type Job,
  type JobView,
  type Json,
  type NewJob,
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
  UnavailableError,
} from './errors.ts';
